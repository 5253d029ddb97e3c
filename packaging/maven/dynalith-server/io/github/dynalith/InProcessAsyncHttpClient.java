package io.github.dynalith;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import software.amazon.awssdk.http.async.AsyncExecuteRequest;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;

/**
 * For clients of the SDK 2 that return futures. Calls run on threads of their own, as many as there are calls at a time: a fault rule may hold one until
 * another comes. Closing it closes nothing else.
 */
public final class InProcessAsyncHttpClient implements SdkAsyncHttpClient {
	private static final AtomicLong STARTED = new AtomicLong();
	private static final ExecutorService THREADS = Executors.newCachedThreadPool(run -> {
		Thread thread = new Thread(run, "dynalith-" + STARTED.incrementAndGet());
		thread.setDaemon(true);
		return thread;
	});
	private final Library library;
	private final String accessKey, region; // null where requests name them

	InProcessAsyncHttpClient(Library library, String accessKey, String region) {
		this.library = library;
		this.accessKey = accessKey;
		this.region = region;
	}

	@Override
	public CompletableFuture<Void> execute(AsyncExecuteRequest request) {
		CompletableFuture<Void> done = new CompletableFuture<>();
		request.requestContentPublisher().subscribe(new Body(body -> THREADS.execute(() -> answer(request, body, done)), problem -> fail(request, problem, done)));
		return done;
	}

	private void answer(AsyncExecuteRequest request, byte[] body, CompletableFuture<Void> done) {
		try {
			Exchange exchange = Exchange.of(library, request.request(), body, accessKey, region);
			request.responseHandler().onHeaders(exchange.response);
			request.responseHandler().onStream(once(ByteBuffer.wrap(exchange.body), done));
		} catch (IOException | RuntimeException | Error problem) {
			fail(request, problem, done);
		}
	}

	private static void fail(AsyncExecuteRequest request, Throwable problem, CompletableFuture<Void> done) {
		request.responseHandler().onError(problem);
		done.completeExceptionally(problem);
	}

	/** The whole body at the first demand. */
	private static Publisher<ByteBuffer> once(ByteBuffer body, CompletableFuture<Void> done) {
		return subscriber -> subscriber.onSubscribe(new Subscription() {
			private boolean isOver;

			@Override
			public void request(long n) {
				if (isOver)
					return;
				isOver = true;
				if (n <= 0) {
					subscriber.onError(new IllegalArgumentException("a demand of " + n));
				} else {
					subscriber.onNext(body);
					subscriber.onComplete();
				}
				done.complete(null);
			}

			@Override
			public void cancel() {
				isOver = true;
				done.complete(null);
			}
		});
	}

	/** Collects a request's body. */
	private static final class Body implements Subscriber<ByteBuffer> {
		private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		private final Consumer<byte[]> whole;
		private final Consumer<Throwable> failed;

		Body(Consumer<byte[]> whole, Consumer<Throwable> failed) {
			this.whole = whole;
			this.failed = failed;
		}

		@Override
		public void onSubscribe(Subscription subscription) {
			subscription.request(Long.MAX_VALUE);
		}

		@Override
		public void onNext(ByteBuffer piece) {
			byte[] copy = new byte[piece.remaining()];
			piece.get(copy);
			bytes.write(copy, 0, copy.length);
		}

		@Override
		public void onError(Throwable problem) {
			failed.accept(problem);
		}

		@Override
		public void onComplete() {
			whole.accept(bytes.toByteArray());
		}
	}

	@Override
	public String clientName() {
		return "Dynalith";
	}

	@Override
	public void close() {
		// the instance has an owner
	}
}
