//! The HTTP client of a client of the AWS SDK, which sends nothing.
use super::library::{Answer, Request};
use super::Shared;
use aws_smithy_async::rt::sleep::{AsyncSleep, SharedAsyncSleep, Sleep};
use aws_smithy_runtime_api::client::http::{HttpClient as SdkHttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use std::fmt::{Debug, Formatter};
use std::future::{poll_fn, Future};
use std::io::{Error, ErrorKind, Result};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// The operations of one item: microseconds, where nothing makes them wait.
const BRIEF: [&str; 4] = ["GetItem", "PutItem", "UpdateItem", "DeleteItem"];
const BRIEF_BODY_MOST: usize = 64 * 1024; // bytes
const BRIEF_IN_A_ROW: u64 = 8; // calls, after which other tasks of the runtime have their turn: a loop of calls that are all ready would leave them none

/// For `http_client()` of the SDK's configuration. A call of one item runs at once on the thread that asks, which saves more time than it
/// takes; all others, and those that may wait, run on a thread of the instance and block no runtime. A read timeout of the SDK applies to
/// those; the call goes on, as in a server.
#[derive(Clone)]
pub struct HttpClient {
    pub(super) shared: Arc<Shared>,
    pub(super) who: Option<Arc<(String, String)>>, // account and region, where requests need no signature
}

impl Debug for HttpClient {
    fn fmt(&self, to: &mut Formatter<'_>) -> std::fmt::Result {
        write!(to, "dynalith::in_process::HttpClient")
    }
}

impl SdkHttpClient for HttpClient {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        let timeout = settings.read_timeout().zip(components.sleep_impl());
        SharedHttpConnector::new(Connector { client: self.clone(), timeout })
    }
}

#[derive(Debug)]
struct Connector {
    client: HttpClient,
    timeout: Option<(Duration, SharedAsyncSleep)>,
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        if self.client.is_brief(&request) {
            let result = self.client.ask(&request).map_err(refused);
            let count = self.client.shared.brief_calls.fetch_add(1, Ordering::Relaxed);
            return if count % BRIEF_IN_A_ROW == 0 { HttpConnectorFuture::new(given_way(result)) } else { HttpConnectorFuture::ready(result) };
        }
        let client = self.client.clone();
        let outcome = self.client.shared.threads.run(move || client.ask(&request));
        let limit = self.timeout.as_ref().map(|(limit, sleep)| (*limit, sleep.sleep(*limit)));
        HttpConnectorFuture::new(answered(outcome, limit))
    }
}

/// The result, after other tasks had their turn.
async fn given_way<T>(result: T) -> T {
    let mut has_waited = false;
    poll_fn(|context| match std::mem::replace(&mut has_waited, true) {
        true => Poll::Ready(()),
        false => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
    result
}

async fn answered(outcome: impl Future<Output = Result<HttpResponse>>, limit: Option<(Duration, Sleep)>) -> std::result::Result<HttpResponse, ConnectorError> {
    let (limit, sleep) = limit.unzip();
    let (mut outcome, mut sleep) = (pin!(outcome), pin!(sleep));
    poll_fn(|context| {
        if let Poll::Ready(result) = outcome.as_mut().poll(context) {
            return Poll::Ready(result.map_err(refused));
        }
        match sleep.as_mut().as_pin_mut().map(|sleep| sleep.poll(context)) {
            Some(Poll::Ready(())) => Poll::Ready(Err(ConnectorError::timeout(format!("dynalith: no answer within {:?}", limit.unwrap_or_default()).into()))),
            _ => Poll::Pending,
        }
    })
    .await
}

/// The SDK tries again where a connection was closed.
fn refused(error: Error) -> ConnectorError {
    match error.kind() {
        ErrorKind::ConnectionReset => ConnectorError::io(error.into()),
        _ => ConnectorError::other(error.into(), None),
    }
}

fn invalid<T>(what: impl std::fmt::Display) -> Result<T> {
    Err(Error::new(ErrorKind::InvalidData, format!("dynalith: {what}")))
}

/// Of an address, what is behind the host.
fn path_of(uri: &str) -> &str {
    let start = uri.find("://").map_or(0, |at| at + 3);
    uri[start..].find('/').map_or("/", |at| &uri[start + at..])
}

impl HttpClient {
    fn is_brief(&self, request: &HttpRequest) -> bool {
        let operation = request.headers().get("x-amz-target").and_then(|target| target.rsplit('.').next());
        !self.shared.may_wait.load(Ordering::SeqCst)
            && path_of(request.uri()) == "/"
            && operation.is_some_and(|operation| BRIEF.contains(&operation))
            && request.body().bytes().is_some_and(|body| body.len() <= BRIEF_BODY_MOST)
    }

    fn ask(&self, request: &HttpRequest) -> Result<HttpResponse> {
        let Some(body) = request.body().bytes() else {
            return invalid("a body that comes in pieces is none of DynamoDB's");
        };
        if path_of(request.uri()).starts_with("/_dynalith/") && request.method() != "GET" {
            self.shared.note_change(path_of(request.uri()));
        }
        let who = self.who.as_deref();
        let answer = self.shared.library.send(&Request {
            method: request.method(),
            path: path_of(request.uri()),
            headers: request.headers().iter().collect(),
            body,
            access_key: who.map(|(account, _)| account.as_str()),
            region: who.map(|(_, region)| region.as_str()),
        })?;
        response(answer)
    }
}

fn response(answer: Answer) -> Result<HttpResponse> {
    if answer.status == 0 {
        return Err(Error::new(ErrorKind::ConnectionReset, "dynalith: a fault rule has closed the connection"));
    }
    let status = answer.status.try_into().or_else(invalid)?;
    let mut response = HttpResponse::new(status, SdkBody::from(answer.body));
    for (name, value) in answer.headers {
        response.headers_mut().try_append(name, value).or_else(invalid)?;
    }
    Ok(response)
}
