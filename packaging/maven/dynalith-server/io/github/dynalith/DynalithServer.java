package io.github.dynalith;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A server in memory, on a free port of 127.0.0.1. It ends with this object's close, and with this process, also where that is killed. */
public final class DynalithServer implements AutoCloseable {
	private static final List<String> STORES = Arrays.asList("--in-memory", "--db-path", "--store");
	private final Process process;
	private final FileChannel log;
	private final URI url;

	private DynalithServer(Process process, FileChannel log, URI url) {
		this.process = process;
		this.log = log;
		this.url = url;
	}

	/** Starts one, with options of the server as on its command line, and waits until it answers. */
	public static DynalithServer start(String... options) {
		try {
			return started(options);
		} catch (IOException e) {
			throw new DynalithException("dynalith: " + e.getMessage(), e);
		}
	}

	private static DynalithServer started(String... options) throws IOException {
		// The log has no name once the server has it open: it is there as long as the two are.
		File file = logFile();
		FileChannel log = new RandomAccessFile(file, "r").getChannel();
		DynalithServer server = null;
		Process process = null;
		try {
			// Its standard input ends with this process, and the server with its standard input.
			process = new ProcessBuilder(command(options)).redirectError(ProcessBuilder.Redirect.appendTo(file)).start();
			String line = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
			if (line == null)
				throw new IOException("the server ended with status " + end(process) + ": " + text(log, 0).trim());
			server = new DynalithServer(process, log, URI.create(line));
			server.namespace(0).control("GET", "health", null);
			return server;
		} finally {
			file.delete();
			if (server == null) {
				log.close();
				if (process != null)
					process.destroy();
			}
		}
	}

	/** A new file. Java's own temporary files wait for its random numbers, which take longer than the server. */
	private static File logFile() throws IOException {
		for (;;) {
			File file = new File(System.getProperty("java.io.tmpdir"), "dynalith-" + Long.toHexString(System.nanoTime()) + ".log");
			if (file.createNewFile())
				return file;
		}
	}

	private static List<String> command(String... options) throws IOException {
		List<String> command = new ArrayList<>();
		command.add(Binary.find().toString());
		boolean hasStore = false, hasPort = false;
		for (String option : options) {
			String name = option.split("=", 2)[0];
			hasStore |= STORES.contains(name);
			hasPort |= name.equals("--port");
		}
		if (!hasStore)
			command.add("--in-memory");
		if (!hasPort)
			command.add("--port=0");
		command.add("--exit-with-parent");
		command.addAll(Arrays.asList(options));
		return command;
	}

	private static int end(Process process) throws IOException {
		try {
			return process.waitFor();
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new IOException("interrupted", e);
		}
	}

	private static String text(FileChannel log, long start) throws IOException {
		ByteBuffer text = ByteBuffer.allocate((int) Math.max(0, log.size() - start));
		// By position: the server writes at the end, and other tests read.
		while (text.hasRemaining() && log.read(text, start + text.position()) > 0)
			;
		return new String(text.array(), 0, text.position(), StandardCharsets.UTF_8);
	}

	public URI url() {
		return url;
	}

	/** Tables of its own; the account is a number of at most 12 digits. */
	public Namespace namespace(long account) {
		return new Namespace(url, account, "us-east-1");
	}

	/** How many bytes the log has. */
	public long logSize() {
		try {
			return log.size();
		} catch (IOException e) {
			throw new DynalithException("dynalith: its log: " + e.getMessage(), e);
		}
	}

	/** What the server has written to its log, from that byte on. */
	public String log(long start) {
		try {
			return text(log, start);
		} catch (IOException e) {
			throw new DynalithException("dynalith: its log: " + e.getMessage(), e);
		}
	}

	@Override
	public void close() {
		try {
			process.getOutputStream().close();
			end(process);
			log.close();
		} catch (IOException e) {
			throw new DynalithException("dynalith: " + e.getMessage(), e);
		}
	}
}
