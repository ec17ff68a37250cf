// SPDX-License-Identifier: BSD-3-Clause

// Goroutines, channels, the collector and a child process.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

func blocks(seed int, out chan<- int) {
	sum := 0
	for n := 0; n < 2000; n++ {
		block := make([]byte, 100+(n*seed)%20000)
		block[len(block)-1] = byte(n)
		sum += len(block) + int(block[len(block)-1])
	}
	out <- sum
}

func main() {
	out := make(chan int)
	for n := 1; n <= 8; n++ {
		go blocks(n, out)
	}
	total := 0
	for n := 0; n < 8; n++ {
		total += <-out
	}
	runtime.GC()
	said, err := exec.Command("echo", "child").Output()
	fmt.Print("total ", total, " ", len(os.Args), " ", string(said))
	if err != nil {
		panic(err)
	}
	defer func() { fmt.Println("recovered:", recover()) }()
	var nothing *int
	*nothing = 1
}
