// SPDX-License-Identifier: BSD-3-Clause
//! Threads, channels, a caught panic and a child process.
use std::sync::mpsc;
use std::{panic, process, thread};

fn main() {
    let (sender, receiver) = mpsc::channel();
    for seed in 1..=8usize {
        let sender = sender.clone();
        thread::spawn(move || {
            let total: usize = (0..2000).map(|n| vec![1u8; 100 + n * seed % 20000].len()).sum();
            sender.send(total).unwrap();
        });
    }
    drop(sender);
    println!("total {}", receiver.iter().sum::<usize>());
    panic::set_hook(Box::new(|_| ()));
    println!("caught {}", panic::catch_unwind(|| panic!("caught")).is_err());
    let said = process::Command::new("echo").arg("child").output().unwrap();
    print!("{}", String::from_utf8_lossy(&said.stdout));
}
