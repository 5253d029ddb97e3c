package io.github.dynalith;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The server in this process, by libdynalith: no socket and no second process. Clients of the SDK 2 get one of its HTTP clients, which send nothing.
 * Instances do not see each other.
 */
public final class InProcess implements AutoCloseable {
	private final ByteArrayOutputStream log = new ByteArrayOutputStream();
	private final boolean isSigned;
	private final Library library;

	private InProcess(Map<String, Object> options) {
		isSigned = !"off".equals(options.getOrDefault("--auth", "off"));
		library = new Library(options, (context, level, text, size) -> write(text.getByteArray(0, (int) size)));
	}

	/** Opens one, in memory unless the options say otherwise. They are the server's, as on its command line; one without a value is a switch. */
	public static InProcess open(String... options) {
		Map<String, Object> all = new LinkedHashMap<>();
		for (String option : options) {
			String[] parts = option.split("=", 2);
			all.put(parts[0], parts.length == 2 ? parts[1] : true);
		}
		return new InProcess(all);
	}

	private void write(byte[] line) {
		synchronized (log) {
			log.write(line, 0, line.length);
			log.write('\n');
		}
	}

	/** Tables of its own; the account is a number of at most 12 digits. */
	public InProcessNamespace namespace(long account) {
		return new InProcessNamespace(this, account, "us-east-1");
	}

	/** For {@code DynamoDbClient.builder().httpClient()}: the credentials and the region of the client say whose its tables are. */
	public InProcessHttpClient httpClient() {
		return new InProcessHttpClient(library, null, null);
	}

	/** For {@code DynamoDbAsyncClient.builder().httpClient()}. */
	public InProcessAsyncHttpClient asyncHttpClient() {
		return new InProcessAsyncHttpClient(library, null, null);
	}

	/** Whether signatures are checked: the option --auth is not off. */
	boolean isSigned() {
		return isSigned;
	}

	Library library() {
		return library;
	}

	/** How many bytes the log has. */
	public long logSize() {
		synchronized (log) {
			return log.size();
		}
	}

	/** What has been written to the log, from that byte on. */
	public String log(long start) {
		synchronized (log) {
			byte[] all = log.toByteArray();
			return new String(all, (int) start, all.length - (int) start, StandardCharsets.UTF_8);
		}
	}

	/** Waits for the calls under way; later ones fail. */
	@Override
	public void close() {
		library.close();
	}
}
