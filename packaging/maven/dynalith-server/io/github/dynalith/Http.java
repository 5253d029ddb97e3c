package io.github.dynalith;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** Requests of test control, each by a connection of its own. Java's own client takes 20 ms until its first answer, and goes by the proxies of the machine. */
final class Http {
	private Http() {
	}

	/** The body of an answer with status 200. */
	static String call(URI url, String method, String target, String body) throws IOException {
		byte[] content = body.getBytes(StandardCharsets.UTF_8);
		String head = method + " " + target + " HTTP/1.0\r\nHost: " + url.getAuthority() + "\r\nContent-Length: " + content.length + "\r\n\r\n";
		try (Socket socket = new Socket(url.getHost(), url.getPort())) {
			socket.setTcpNoDelay(true);
			byte[] start = head.getBytes(StandardCharsets.US_ASCII), whole = new byte[start.length + content.length];
			System.arraycopy(start, 0, whole, 0, start.length);
			System.arraycopy(content, 0, whole, start.length, content.length);
			socket.getOutputStream().write(whole);
			try (InputStream in = socket.getInputStream()) {
				return answer(new String(Streams.read(in), StandardCharsets.UTF_8));
			}
		}
	}

	private static String answer(String text) throws IOException {
		int end = text.indexOf("\r\n\r\n"), status = text.indexOf(' ');
		if (!text.startsWith("HTTP/1.") || end < 0)
			throw new IOException("the server closed the connection");
		String body = text.substring(end + 4);
		if (!text.startsWith("200", status + 1))
			throw new IOException(body);
		return body;
	}
}
