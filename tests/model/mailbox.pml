/* SPDX-License-Identifier: BSD-3-Clause
 * mailbox.pml - post, take and sleep of src/mailbox/mailbox.h, with the doorbell, for spin.
 *
 * Two posters, of one message and of SECOND, and a reader of a mailbox of two cells. Poster DYING may stop for
 * ever before any of its steps; the host then cancels its posts, at any later time. Memory is sequentially
 * consistent here: the orders are the schedule test's and ThreadSanitizer's to check.
 *
 * ARM_UNCOUNTED, ALWAYS_FOR_EVER, HOST_RINGS_NOT, NO_NOTE: mistakes that the check must find.
 *
 * Checked: no state without a way on (the reader's sleep has no time-out where the code sleeps
 * for ever: a lost wake-up is an invalid end state), no message lost, none twice.
 */
#define POSTERS 2
#define DYING 0
#define CELLS 2
#ifndef SECOND
#define SECOND 1  /* messages of the second poster */
#endif
#define MESSAGES(poster) (poster == 0 -> 1 : SECOND)
#define NOBODY 9

/* tail: position, sleeping, last poster; in the code one word, so each change is one atomic step */
byte tail = 0;
bit sleeping = 0;
byte last = NOBODY;

byte head = 0;
byte serial[CELLS];    /* of the cell: position + 1 of its message */
byte from[CELLS];      /* the payload; NOBODY: nothing */
byte number[CELLS];    /* the payload: which message of its poster */
byte noted_at[CELLS];  /* posters_: position + 1 */
byte noted[CELLS];

/* the doorbell's word */
byte count = 0;
bit armed = 0;
bit in_futex = 0;      /* the reader sleeps in the kernel */

bit dead = 0, forgotten = 0;
byte posted[POSTERS];  /* became ready */
byte taken[POSTERS];

/* FIFO and no duplicate: each message is numbered by its poster, and taken in that order */
#define all_came \
  (taken[1] == MESSAGES(1) && taken[0] == posted[0] && (dead || posted[0] == MESSAGES(0)))

#define published(at) (serial[(at) % CELLS] == (at) + 1)
#define message(at) (published(at) && from[(at) % CELLS] != NOBODY)

#define may_die(me) if :: me == DYING -> dead = 1; goto stopped :: true fi

inline ring(me) {
  may_die(me);
  if
  :: atomic { armed -> count++; mine = count };
     may_die(me);
     in_futex = 0;
     may_die(me);
     /* only from the very word that it left */
     atomic { if :: armed && count == mine -> armed = 0 :: else fi }
  :: atomic { !armed -> skip }
  fi
}

proctype poster(byte me) {
  byte position, last_seen, mine, sent;
  bit asleep;

retry:
  may_die(me);
  atomic { position = tail; asleep = sleeping; last_seen = last };
  may_die(me);
  if
  :: atomic { position > head && position - head >= CELLS -> skip };
     if :: asleep -> ring(me) :: else fi;
     goto retry
  :: atomic { !(position > head && position - head >= CELLS) -> skip }
  fi;
  may_die(me);
#ifndef NO_NOTE
  if
  :: atomic { position > 0 && noted_at[(position + CELLS - 1) % CELLS] < position ->
       noted_at[(position + CELLS - 1) % CELLS] = position; noted[(position + CELLS - 1) % CELLS] = last_seen }
  :: atomic { !(position > 0 && noted_at[(position + CELLS - 1) % CELLS] < position) -> skip }
  fi;
#endif
  may_die(me);
  if
  :: atomic { tail == position && sleeping == asleep && last == last_seen ->
       tail = position + 1; last = me }
  :: atomic { !(tail == position && sleeping == asleep && last == last_seen) -> goto retry }
  fi;
  may_die(me);
  atomic { noted_at[position % CELLS] = position + 1; noted[position % CELLS] = me };
  may_die(me);
  atomic { from[position % CELLS] = me; serial[position % CELLS] = position + 1; posted[me]++;
           number[position % CELLS] = posted[me] };
  if :: asleep -> ring(me) :: else fi;
  sent++;
  if :: sent < MESSAGES(me) -> goto retry :: else fi;
stopped:
  skip
}

/* The host: some time after the death. */
proctype host() {
  byte position, end, last_seen, who, begin;
end_alive:
  dead;
  begin = head;
  atomic { end = tail; last_seen = last };
  position = begin;
  do
  :: position < end ->
     if
     :: atomic { serial[position % CELLS] <= position ->
          /* its note stays while it is not ready, so reading it later is the same */
          if
          :: position + 1 == end -> who = last_seen
          :: else -> who = noted[position % CELLS];
                     assert(noted_at[position % CELLS] == position + 1 ||
                            serial[position % CELLS] > position)
          fi };
        if
        :: who == DYING -> atomic { from[position % CELLS] = NOBODY;
                                    serial[position % CELLS] = position + 1 }
        :: else
        fi
     :: atomic { serial[position % CELLS] > position -> skip }
     fi;
     position++
  :: else -> break
  od;
#ifndef HOST_RINGS_NOT
  atomic { if :: armed -> count++; in_futex = 0 :: else fi };
#endif
  forgotten = 1
}

/* Takes until every living poster's message came and the dead one is forgotten. */
proctype reader() {
  byte value, at, end, found;
  bit under_way;

look:
  /* take_past_reserved: over what is nothing, then the first message below tail */
  do
  :: atomic { published(head) && !message(head) -> head++ }
  :: atomic { !(published(head) && !message(head)) -> break }
  od;
  end = tail;
  found = end;
  at = head;
  do
  :: at < found ->
     if
     :: atomic { message(at) -> found = at }
     :: atomic { !message(at) -> at++ }
     fi
  :: else -> break
  od;
  if
  :: found < end ->
     taken[from[found % CELLS]]++;
     assert(number[found % CELLS] == taken[from[found % CELLS]]);
     if
     :: found == head -> head++
     :: else -> from[found % CELLS] = NOBODY
     fi;
     goto look
  :: else
  fi;
  if
  :: atomic { all_came && tail == head -> goto done }
  :: else
  fi;

  /* Waiting: arm, mark, look again, sleep. */
#ifdef ARM_UNCOUNTED
  atomic { armed = 1; value = count };
#else
  atomic { count++; armed = 1; value = count };
#endif
  atomic { sleeping = 1; under_way = (tail != head) };
#ifdef ALWAYS_FOR_EVER
  under_way = 0;
#endif
  at = head;
  found = tail;
  do
  :: at < found ->
     if
     :: atomic { message(at) -> at = found + 1 }
     :: atomic { !message(at) -> at++ }
     fi
  :: else -> break
  od;
  if
  :: at > found -> skip                /* the second look found something */
  :: at == found && under_way ->
     /* A sleep with a time-out: ends by itself. To wake before a post is complete changes nothing. */
     (published(head) || message(head + 1))
  :: at == found && !under_way ->
     if
     :: atomic { count == value && armed -> in_futex = 1 }
     :: atomic { !(count == value && armed) -> skip }
     fi;
     if
     :: !in_futex
     :: atomic { all_came -> goto done }  /* nobody will ring, nor should anybody */
     fi
  fi;
  sleeping = 0;
  atomic { armed = 0; value = 0; at = 0; end = 0; found = 0; under_way = 0 };
  goto look;
done:
  skip
}

init {
  byte n;
  atomic {
    n = 0;
    do
    :: n < CELLS -> from[n] = NOBODY; n++
    :: else -> break
    od;
    run poster(0);
    run poster(1);
    run reader();
    run host()
  }
}
