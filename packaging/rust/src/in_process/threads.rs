//! Threads for calls that may block, and futures of what they return: of no runtime, so that clients work in each.
use std::collections::VecDeque;
use std::future::Future;
use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const THREADS_MOST: usize = 256; // calls that are held or delayed; more wait for one of them
const IDLE_MOST: Duration = Duration::from_secs(5); // then a thread ends

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

/// Begins threads as there are calls for them.
#[derive(Default)]
pub(super) struct Threads {
    state: Mutex<State>,
    has_job: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Threads {
    /// Runs it on a thread. Who drops the future does not stop what has begun.
    pub fn run<T: Send + 'static>(self: &Arc<Self>, call: impl FnOnce() -> Result<T> + Send + 'static) -> Outcome<T> {
        let slot = Arc::new(Mutex::new(Slot { result: None, waker: None }));
        let end = End(Some(slot.clone()));
        self.push(Box::new(move || end.set(call())));
        Outcome(slot)
    }

    fn push(self: &Arc<Self>, job: Job) {
        let mut state = lock(&self.state);
        state.jobs.push_back(job);
        if state.jobs.len() <= state.idle {
            self.has_job.notify_one();
        } else if state.threads < THREADS_MOST {
            let threads = self.clone();
            let begun = std::thread::Builder::new().name("dynalith call".to_string()).spawn(move || threads.work());
            match begun {
                Ok(_) => state.threads += 1,
                Err(_) if state.threads > 0 => {} // one of the others takes it
                Err(_) => {
                    let job = state.jobs.pop_back();
                    drop(state);
                    drop(job); // its End says so
                }
            }
        }
    }

    fn work(&self) {
        let mut state = lock(&self.state);
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                // What panics has an End, which says so.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
                state = lock(&self.state);
                continue;
            }
            state.idle += 1;
            let (woken, wait) = self.has_job.wait_timeout(state, IDLE_MOST).unwrap_or_else(|poisoned| poisoned.into_inner());
            state = woken;
            state.idle -= 1;
            if wait.timed_out() && state.jobs.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }
}

struct Slot<T> {
    result: Option<Result<T>>,
    waker: Option<Waker>,
}

impl<T> Slot<T> {
    fn fill(slot: &Mutex<Slot<T>>, result: Result<T>) {
        let mut slot = lock(slot);
        slot.result = Some(result);
        let waker = slot.waker.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// What the thread has of a slot: it is filled also where the call never runs, or panics.
struct End<T>(Option<Arc<Mutex<Slot<T>>>>);

impl<T> End<T> {
    fn set(mut self, result: Result<T>) {
        if let Some(slot) = self.0.take() {
            Slot::fill(&slot, result);
        }
    }
}

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take() {
            Slot::fill(&slot, Err(Error::new(ErrorKind::Other, "dynalith: no thread has carried out the call")));
        }
    }
}

/// What a call returns, once it has.
pub(super) struct Outcome<T>(Arc<Mutex<Slot<T>>>);

impl<T> Future for Outcome<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let mut slot = lock(&self.0);
        if let Some(result) = slot.result.take() {
            return Poll::Ready(result);
        }
        slot.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
