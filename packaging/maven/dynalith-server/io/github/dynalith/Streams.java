package io.github.dynalith;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

final class Streams {
	private Streams() {
	}

	static byte[] read(InputStream in) throws IOException {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		byte[] part = new byte[8192];
		for (int n; (n = in.read(part)) >= 0;)
			out.write(part, 0, n);
		return out.toByteArray();
	}
}
