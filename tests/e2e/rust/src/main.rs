//! The AWS SDK for Rust against the server at DYNALITH_URL: the patterns of a single table, and how errors arrive.
mod errors;
mod patterns;

use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_dynamodb::Client;
use std::collections::HashMap;
use std::future::Future;

pub type Item = HashMap<String, AttributeValue>;
pub type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

pub fn s(value: &str) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub fn n(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

pub fn item(attributes: &[(&str, AttributeValue)]) -> Item {
    attributes.iter().map(|(k, v)| (k.to_string(), v.clone())).collect()
}

pub fn key(pk: &str, sk: &str) -> Item {
    item(&[("PK", s(pk)), ("SK", s(sk))])
}

pub fn row(pk: &str, sk: &str, more: &[(&str, AttributeValue)]) -> Item {
    let mut all = key(pk, sk);
    all.extend(item(more));
    all
}

pub async fn get(client: &Client, pk: &str, sk: &str) -> Option<Item> {
    client.get_item().table_name("app").set_key(Some(key(pk, sk))).consistent_read(true).send().await.unwrap().item
}

/// How many requests the server has answered.
pub async fn requests() -> u64 {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let url = std::env::var("DYNALITH_URL").unwrap();
    let mut stream = tokio::net::TcpStream::connect(url.trim_start_matches("http://")).await.unwrap();
    stream.write_all(b"GET /_dynalith/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let lines = text.lines().filter(|l| l.starts_with("dynalith_requests_total{"));
    lines.map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

#[derive(Default)]
pub struct Count {
    passed: u32,
    failed: u32,
}

impl Count {
    /// A task of its own, so that a failed assertion ends only this test.
    pub async fn test(&mut self, name: &str, test: impl Future<Output = Outcome> + Send + 'static) {
        match tokio::spawn(test).await {
            Ok(Ok(())) => self.passed += 1,
            Ok(Err(error)) => self.fail(name, format!("{error:?}")),
            Err(panic) => self.fail(name, panic.to_string()),
        }
    }

    fn fail(&mut self, name: &str, why: String) {
        self.failed += 1;
        eprintln!("e2e rust: {name} failed: {why}");
    }
}

#[tokio::main]
async fn main() {
    let config = aws_config::defaults(aws_config::BehaviorVersion::latest()).endpoint_url(std::env::var("DYNALITH_URL").unwrap()).load().await;
    let client = Client::new(&config);
    let mut count = Count::default();
    patterns::run(&client, &mut count).await;
    errors::run(&client, &mut count).await;
    println!("e2e rust: {} passed, {} failed", count.passed, count.failed);
    std::process::exit(if count.failed > 0 { 1 } else { 0 });
}
