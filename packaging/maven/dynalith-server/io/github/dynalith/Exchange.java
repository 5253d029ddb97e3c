package io.github.dynalith;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import software.amazon.awssdk.http.SdkHttpFullResponse;
import software.amazon.awssdk.http.SdkHttpRequest;

/** A request of the SDK, and its answer by the library. */
final class Exchange {
	final SdkHttpFullResponse response;
	final byte[] body;

	private Exchange(SdkHttpFullResponse response, byte[] body) {
		this.response = response;
		this.body = body;
	}

	static Exchange of(Library library, SdkHttpRequest request, byte[] body, String accessKey, String region) throws IOException {
		List<String> headers = new ArrayList<>(24);
		request.forEachHeader((name, values) -> {
			for (String value : values) {
				headers.add(name);
				headers.add(value);
			}
		});
		String path = request.encodedQueryParameters().map(query -> request.encodedPath() + "?" + query).orElse(request.encodedPath());
		Library.Answer answer = library.send(request.method().name(), path.isEmpty() ? "/" : path, headers, body, accessKey, region);
		if (answer.status == 0)
			throw new IOException("a fault rule has closed the connection");
		SdkHttpFullResponse.Builder response = SdkHttpFullResponse.builder().statusCode(answer.status);
		for (int i = 0; i < answer.headers.size(); i += 2)
			response.appendHeader(answer.headers.get(i), answer.headers.get(i + 1));
		return new Exchange(response.build(), answer.body);
	}
}
