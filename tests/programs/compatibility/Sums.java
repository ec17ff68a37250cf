// SPDX-License-Identifier: BSD-3-Clause

/** Threads, the collector, and the null pointers that the machine finds by signals. */
public class Sums {
    public static void main(String[] arguments) throws Exception {
        Thread[] threads = new Thread[4];
        long[] sums = new long[4];
        for (int n = 0; n < 4; n++) {
            final int own = n;
            threads[n] = new Thread(() -> {
                for (int i = 0; i < 20000; i++) sums[own] += new byte[1000].length;
            });
            threads[n].start();
        }
        for (Thread thread : threads) thread.join();
        System.out.println(sums[0] + sums[1] + sums[2] + sums[3]);
        try {
            Object nothing = null;
            nothing.hashCode();
        } catch (NullPointerException error) {
            System.out.println("null pointer caught");
        }
    }
}
