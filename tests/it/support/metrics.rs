//! The bot's metrics, as a scraper gets them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// A port that was free a moment ago.
pub(crate) fn free_address() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("it is bound").to_string()
}

/// Everything that was counted so far, with the head of the answer.
pub(crate) fn scrape(address: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("the endpoint listens");
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}
