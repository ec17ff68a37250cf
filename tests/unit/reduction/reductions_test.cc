// SPDX-License-Identifier: BSD-3-Clause
// Every element type and operation against an oracle that computes one element at a time, in wider
// types where there are any, from MPI's text: the loops for every processor, and those for wide
// vectors if this one has them.
#include "reduction/reductions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "arch/arch.h"
#include "reduction/loops.h"

namespace nagaya::reduction {
namespace {

std::vector<const Loops*> loops_here() {
  if (!arch::has_wide_vectors()) return {&kPortableLoops};
  return {&kPortableLoops, &kWideLoops};
}

// ---- the oracle: kinds of elements, and one element's result -----------------------------------

enum class Kind { kInteger, kFloating, kComplex, kByte, kLogical, kPair };

template <class T>
struct Scalar {
  static constexpr Kind kind = std::is_integral_v<T> ? Kind::kInteger : Kind::kFloating;
  using Type = T;

  // Small whole numbers, so that floating-point results are exact, and for integers all values.
  static T random(std::mt19937_64& random) {
    if (std::is_integral_v<T> && random() % 2 == 0) return static_cast<T>(random());
    return static_cast<T>(static_cast<int>(random() % 9) - (std::is_unsigned_v<T> ? 0 : 4));
  }
  static T result(nagaya_reduction operation, T a, T b) {
    using Wide = std::conditional_t<std::is_integral_v<T>, unsigned __int128, long double>;
    const Wide x = a, y = b;
    switch (operation) {
      case NAGAYA_REDUCE_MAX:
        return std::max(a, b);
      case NAGAYA_REDUCE_MIN:
        return std::min(a, b);
      case NAGAYA_REDUCE_SUM:
        return static_cast<T>(x + y);
      case NAGAYA_REDUCE_PROD:
        return static_cast<T>(x * y);
      case NAGAYA_REDUCE_LAND:
        return static_cast<T>(bool(a) && bool(b) ? 1 : 0);
      case NAGAYA_REDUCE_LOR:
        return static_cast<T>(bool(a) || bool(b) ? 1 : 0);
      case NAGAYA_REDUCE_LXOR:
        return static_cast<T>(bool(a) ^ bool(b) ? 1 : 0);
      default:
        break;
    }
    if constexpr (std::is_integral_v<T>) {
      if (operation == NAGAYA_REDUCE_BAND) return static_cast<T>(~(~a | ~b));
      if (operation == NAGAYA_REDUCE_BOR) return static_cast<T>(~(~a & ~b));
      if (operation == NAGAYA_REDUCE_BXOR) return static_cast<T>((a | b) & ~(a & b));
    }
    throw std::logic_error("no such operation");
  }
};

template <class T>
struct ComplexOf {
  static constexpr Kind kind = Kind::kComplex;
  using Type = Complex<T>;

  static Type random(std::mt19937_64& random) {
    return {Scalar<T>::random(random), Scalar<T>::random(random)};
  }
  static Type result(nagaya_reduction operation, Type a, Type b) {
    const std::complex<T> x(a.re, a.im), y(b.re, b.im);
    const std::complex<T> z = operation == NAGAYA_REDUCE_SUM ? x + y : x * y;
    return {z.real(), z.imag()};
  }
};

struct ByteOf {
  static constexpr Kind kind = Kind::kByte;
  using Type = uint8_t;

  static Type random(std::mt19937_64& random) { return static_cast<Type>(random()); }
  static Type result(nagaya_reduction operation, Type a, Type b) {
    return Scalar<uint8_t>::result(operation, a, b);
  }
};

// The result is true as an operand is: here all true values are 1.
template <class T>
struct LogicalOf {
  static constexpr Kind kind = Kind::kLogical;
  using Type = T;

  static Type random(std::mt19937_64& random) { return static_cast<T>(random() % 2); }
  static Type result(nagaya_reduction operation, T a, T b) {
    return Scalar<T>::result(operation, a, b);
  }
};

template <class Value, class Index>
struct PairOf {
  static constexpr Kind kind = Kind::kPair;
  struct Type {
    Value value;
    Index index;
    bool operator==(const Type&) const = default;
  };

  static Type random(std::mt19937_64& random) {  // equal values are frequent
    return {static_cast<Value>(static_cast<int>(random() % 5) - 2),
            static_cast<Index>(random() % 100)};
  }
  static Type result(nagaya_reduction operation, Type a, Type b) {
    if (a.value == b.value) return {a.value, std::min(a.index, b.index)};
    return (a.value > b.value) == (operation == NAGAYA_REDUCE_MAXLOC) ? a : b;
  }
};

bool is_defined(Kind kind, nagaya_reduction operation) {
  const std::set<nagaya_reduction> ordered{NAGAYA_REDUCE_MAX, NAGAYA_REDUCE_MIN},
      arithmetic{NAGAYA_REDUCE_SUM, NAGAYA_REDUCE_PROD},
      logical{NAGAYA_REDUCE_LAND, NAGAYA_REDUCE_LOR, NAGAYA_REDUCE_LXOR},
      bitwise{NAGAYA_REDUCE_BAND, NAGAYA_REDUCE_BOR, NAGAYA_REDUCE_BXOR};
  const bool is_number = kind == Kind::kInteger || kind == Kind::kFloating;
  if (ordered.contains(operation)) return is_number;
  if (arithmetic.contains(operation)) return is_number || kind == Kind::kComplex;
  if (logical.contains(operation)) return is_number || kind == Kind::kLogical;
  if (bitwise.contains(operation)) return kind == Kind::kInteger || kind == Kind::kByte;
  if (operation == NAGAYA_REDUCE_MAXLOC || operation == NAGAYA_REDUCE_MINLOC)
    return kind == Kind::kPair;
  return true;
}

// ---- one test for each element type ------------------------------------------------------------

template <class Oracle, nagaya_element_type element>
struct Case {
  using Model = Oracle;
  static constexpr nagaya_element_type kElement = element;
};

using Cases = testing::Types<
    Case<Scalar<int8_t>, NAGAYA_ELEMENT_INT8>, Case<Scalar<int16_t>, NAGAYA_ELEMENT_INT16>,
    Case<Scalar<int32_t>, NAGAYA_ELEMENT_INT32>, Case<Scalar<int64_t>, NAGAYA_ELEMENT_INT64>,
    Case<Scalar<uint8_t>, NAGAYA_ELEMENT_UINT8>, Case<Scalar<uint16_t>, NAGAYA_ELEMENT_UINT16>,
    Case<Scalar<uint32_t>, NAGAYA_ELEMENT_UINT32>, Case<Scalar<uint64_t>, NAGAYA_ELEMENT_UINT64>,
    Case<Scalar<float>, NAGAYA_ELEMENT_FLOAT>, Case<Scalar<double>, NAGAYA_ELEMENT_DOUBLE>,
    Case<Scalar<long double>, NAGAYA_ELEMENT_LONG_DOUBLE>,
    Case<ComplexOf<float>, NAGAYA_ELEMENT_COMPLEX_FLOAT>,
    Case<ComplexOf<double>, NAGAYA_ELEMENT_COMPLEX_DOUBLE>,
    Case<ComplexOf<long double>, NAGAYA_ELEMENT_COMPLEX_LONG_DOUBLE>,
    Case<ByteOf, NAGAYA_ELEMENT_BYTE>, Case<LogicalOf<uint8_t>, NAGAYA_ELEMENT_BOOL>,
    Case<LogicalOf<int32_t>, NAGAYA_ELEMENT_LOGICAL>,
    Case<PairOf<float, int>, NAGAYA_ELEMENT_FLOAT_INT>,
    Case<PairOf<double, int>, NAGAYA_ELEMENT_DOUBLE_INT>,
    Case<PairOf<long, int>, NAGAYA_ELEMENT_LONG_INT>,
    Case<PairOf<int, int>, NAGAYA_ELEMENT_INT_INT>,
    Case<PairOf<short, int>, NAGAYA_ELEMENT_SHORT_INT>,
    Case<PairOf<long double, int>, NAGAYA_ELEMENT_LONG_DOUBLE_INT>,
    Case<PairOf<float, float>, NAGAYA_ELEMENT_FLOAT_FLOAT>,
    Case<PairOf<double, double>, NAGAYA_ELEMENT_DOUBLE_DOUBLE>>;

template <class Case>
class Reductions : public testing::Test {
 protected:
  using Model = typename Case::Model;
  using Type = typename Model::Type;
  static constexpr size_t kCount = 37;  // whole vectors and a rest

  // Runs test(elements) with each table's loops.
  template <class Test>
  static void with_all_loops(Test test) {
    for (const Loops* const loops : loops_here()) test((*loops)[Case::kElement]);
  }

  std::vector<Type> random_elements() {
    std::vector<Type> all(kCount);
    for (Type& one : all) one = Model::random(random_);
    return all;
  }
  // In memory that begins `shift` bytes behind an aligned address.
  static std::vector<std::byte> bytes_of(const std::vector<Type>& all, size_t shift) {
    std::vector<std::byte> bytes(shift + all.size() * sizeof(Type), std::byte{0xa5});
    elements_of(Case::kElement)
        .reduce[NAGAYA_REDUCE_REPLACE](nullptr, all.data(), bytes.data() + shift, all.size());
    return bytes;
  }
  static std::vector<Type> elements_from(const std::vector<std::byte>& bytes, size_t shift) {
    std::vector<Type> all((bytes.size() - shift) / sizeof(Type));
    std::memcpy(static_cast<void*>(all.data()), bytes.data() + shift, all.size() * sizeof(Type));
    return all;
  }
  static bool are_equal(const Type& a, const Type& b) {
    if constexpr (Model::kind == Kind::kComplex)
      return a.re == b.re && a.im == b.im;
    else
      return a == b;
  }

  std::mt19937_64 random_{20261128};
};

TYPED_TEST_SUITE(Reductions, Cases);

TYPED_TEST(Reductions, HaveTheExtentOfTheirType) {
  this->with_all_loops([](const Elements& elements) {
    EXPECT_EQ(elements.extent, sizeof(typename TypeParam::Model::Type));
    EXPECT_LE(elements.true_extent, elements.extent);
  });
}

TYPED_TEST(Reductions, CountWholeElements) {
  const Elements& elements = elements_of(TypeParam::kElement);
  for (const size_t bytes : {size_t{0}, elements.extent, 3 * elements.extent, SIZE_MAX}) {
    EXPECT_EQ(elements.count_in(bytes), bytes / elements.extent);
    EXPECT_EQ(elements.has_rest(bytes), bytes % elements.extent != 0);
  }
}

TYPED_TEST(Reductions, AreDefinedForTheOperationsOfMpi) {
  this->with_all_loops([](const Elements& elements) {
    for (size_t n = 0; n < kReductions; ++n)
      EXPECT_EQ(elements.reduce[n] != nullptr,
                is_defined(TypeParam::Model::kind, static_cast<nagaya_reduction>(n)))
          << "operation " << n;
  });
}

TYPED_TEST(Reductions, GiveTheResultsOfTheOracleAtAnyAddress) {
  this->with_all_loops([this](const Elements& elements) {
    for (size_t n = 0; n < NAGAYA_REDUCE_REPLACE; ++n)
      for (const size_t shift : {0, 1, 4}) {
        const auto operation = static_cast<nagaya_reduction>(n);
        if (!is_defined(TypeParam::Model::kind, operation)) continue;
        const auto in = this->random_elements(), inout = this->random_elements();
        auto target = this->bytes_of(inout, shift);
        elements.reduce[n](nullptr, this->bytes_of(in, 3).data() + 3, target.data() + shift,
                           in.size());
        const auto results = this->elements_from(target, shift);
        for (size_t k = 0; k < in.size(); ++k)
          ASSERT_TRUE(
              this->are_equal(results[k], TypeParam::Model::result(operation, in[k], inout[k])))
              << "operation " << n << ", element " << k;
      }
  });
}

TYPED_TEST(Reductions, ReplaceTakesTheOperandAndNoOpLeavesTheValue) {
  this->with_all_loops([this](const Elements& elements) {
    const auto in = this->random_elements(), inout = this->random_elements();
    auto replaced = this->bytes_of(inout, 0), left = replaced;
    elements.reduce[NAGAYA_REDUCE_REPLACE](nullptr, in.data(), replaced.data(), in.size());
    elements.reduce[NAGAYA_REDUCE_NO_OP](nullptr, nullptr, left.data(), in.size());
    for (size_t k = 0; k < in.size(); ++k) {
      EXPECT_TRUE(this->are_equal(this->elements_from(replaced, 0)[k], in[k]));
      EXPECT_TRUE(this->are_equal(this->elements_from(left, 0)[k], inout[k]));
    }
  });
}

TYPED_TEST(Reductions, LeaveTheGapsOfPairs) {
  using Model = typename TypeParam::Model;
  if constexpr (Model::kind == Kind::kPair) {
    using Type = typename Model::Type;
    const size_t gap = sizeof(Type::value), begin = offsetof(Type, index);
    const size_t end = begin + sizeof(Type::index);
    this->with_all_loops([&](const Elements& elements) {
      EXPECT_EQ(elements.copy != nullptr, gap != begin || end != sizeof(Type));
      const auto in = this->random_elements();
      for (const nagaya_reduction operation :
           {NAGAYA_REDUCE_MAXLOC, NAGAYA_REDUCE_MINLOC, NAGAYA_REDUCE_REPLACE}) {
        auto target = this->bytes_of(in, 0);
        elements.reduce[operation](nullptr, this->random_elements().data(), target.data(),
                                   in.size());
        for (size_t at = 0; at < target.size(); ++at)
          if (const size_t in_pair = at % sizeof(Type);
              (in_pair >= gap && in_pair < begin) || in_pair >= end) {
            ASSERT_EQ(target[at], std::byte{0xa5}) << "operation " << operation << ", byte " << at;
          }
      }
    });
  }
}

TEST(ReductionsOfFloatingPoint, DependOnNoPlaceInTheArray) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> numbers(-1, 1);
  constexpr size_t kCount = 9;
  for (const Loops* const loops : loops_here()) {
    std::vector<Complex<double>> in(kCount, {numbers(random), numbers(random)}),
        inout(kCount, {numbers(random), numbers(random)});
    (*loops)[NAGAYA_ELEMENT_COMPLEX_DOUBLE].reduce[NAGAYA_REDUCE_PROD](nullptr, in.data(),
                                                                       inout.data(), kCount);
    for (size_t n = 1; n < kCount; ++n)
      EXPECT_EQ(std::memcmp(&inout[n], &inout[0], sizeof inout[0]), 0) << n;
  }
}

template <class T>
void expect_equal_bits(std::initializer_list<nagaya_element_type> types) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<T> numbers(-1, 1);
  std::vector<T> in(80), before(80);  // of complex numbers 40
  for (const nagaya_element_type type : types)
    for (size_t operation = 0; operation < kReductions; ++operation)
      for (size_t count = 0; count <= 40; ++count) {
        if (kPortableLoops[type].reduce[operation] == nullptr) continue;
        for (T& one : in) one = numbers(random);
        for (T& one : before) one = numbers(random);
        std::vector<T> portable = before, wide = before;
        kPortableLoops[type].reduce[operation](nullptr, in.data(), portable.data(), count);
        kWideLoops[type].reduce[operation](nullptr, in.data(), wide.data(), count);
        ASSERT_EQ(std::memcmp(portable.data(), wide.data(), wide.size() * sizeof(T)), 0)
            << "type " << type << ", operation " << operation << ", " << count << " elements";
      }
}

TEST(ReductionsOfFloatingPoint, HaveTheSameBitsInWideVectors) {
  if (!arch::has_wide_vectors()) GTEST_SKIP() << "this processor has none";
  expect_equal_bits<float>({NAGAYA_ELEMENT_FLOAT, NAGAYA_ELEMENT_COMPLEX_FLOAT});
  expect_equal_bits<double>({NAGAYA_ELEMENT_DOUBLE, NAGAYA_ELEMENT_COMPLEX_DOUBLE});
}

TEST(ReductionsOfLogicalValues, AreTrueAsAnOperandIs) {
  const int32_t true_value = -1, false_value = 0;
  for (const nagaya_reduction operation : {NAGAYA_REDUCE_LOR, NAGAYA_REDUCE_LXOR}) {
    int32_t value = false_value;
    elements_of(NAGAYA_ELEMENT_LOGICAL).reduce[operation](nullptr, &true_value, &value, 1);
    EXPECT_EQ(value, true_value);
  }
}

}  // namespace
}  // namespace nagaya::reduction
