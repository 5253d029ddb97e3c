package io.github.dynalith;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;

import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;

/** For clients of the SDK 2 that wait for their answers. A call runs on the thread that makes it. Closing it closes nothing else. */
public final class InProcessHttpClient implements SdkHttpClient {
	private final Library library;
	private final String accessKey, region; // null where requests name them

	InProcessHttpClient(Library library, String accessKey, String region) {
		this.library = library;
		this.accessKey = accessKey;
		this.region = region;
	}

	@Override
	public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
		return new ExecutableHttpRequest() {
			@Override
			public HttpExecuteResponse call() throws IOException {
				Exchange exchange = Exchange.of(library, request.httpRequest(), body(request), accessKey, region);
				return HttpExecuteResponse.builder().response(exchange.response)
					.responseBody(AbortableInputStream.create(new ByteArrayInputStream(exchange.body))).build();
			}

			@Override
			public void abort() {
				// a call comes to its end
			}
		};
	}

	private static byte[] body(HttpExecuteRequest request) throws IOException {
		ContentStreamProvider provider = request.contentStreamProvider().orElse(null);
		if (provider == null)
			return new byte[0];
		try (InputStream in = provider.newStream()) {
			return Streams.read(in);
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
