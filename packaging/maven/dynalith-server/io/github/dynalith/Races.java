package io.github.dynalith;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Runs some clients at once, again and again, each time on a new server and with another order of their requests, until one order fails:
 * {@code Races.with("--budget", "200").before(run -> ...).check(run -> ...).race(run -> ..., run -> ...)}.
 */
public final class Races {
	/** One run, as a client sees it. */
	public static final class Run {
		private final URI url;
		private final String name;

		Run(URI url, String name) {
			this.url = url;
			this.name = name;
		}

		/** The address for clients of the SDK; any keys will do. */
		public URI url() {
			return url;
		}

		/** The SDK's application id of a client, by which the order names it; null before and behind the clients. */
		public String name() {
			return name;
		}
	}

	/** What a client does. */
	public interface Client {
		void run(Run run) throws Exception;
	}

	private final List<String> options;
	private Client before = run -> { }, check = run -> { };

	private Races(List<String> options) {
		this.options = options;
	}

	/** With options of `dynalith races`. */
	public static Races with(String... options) {
		return new Races(Arrays.asList(options));
	}

	/** On a server without tables, before the clients of each run. */
	public Races before(Client client) {
		before = client;
		return this;
	}

	/** Behind them; throws where something is wrong. */
	public Races check(Client client) {
		check = client;
		return this;
	}

	/** AssertionError has an order that fails. Else returns what was tried. */
	public String race(Client... clients) {
		try {
			return raced(clients);
		} catch (IOException e) {
			throw new DynalithException("dynalith races: " + e.getMessage(), e);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new DynalithException("dynalith races: interrupted", e);
		}
	}

	private String raced(Client... clients) throws IOException, InterruptedException {
		List<String> command = new ArrayList<>(Arrays.asList(Binary.find().toString(), "races", "--by-lines"));
		command.addAll(options);
		Process process = new ProcessBuilder(command).redirectErrorStream(true).directory(new File(".")).start();
		StringBuilder told = new StringBuilder();
		BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
		for (String line = lines.readLine(); line != null; line = lines.readLine()) {
			if (!line.startsWith("run ")) {
				told.append(line).append('\n');
				continue;
			}
			process.getOutputStream().write((once(URI.create(line.substring(4)), clients) + "\n").getBytes(StandardCharsets.UTF_8));
			process.getOutputStream().flush();
		}
		if (process.waitFor() != 0)
			throw new AssertionError(told.toString());
		return told.toString();
	}

	private String once(URI url, Client... clients) throws InterruptedException {
		List<Throwable> problems = new ArrayList<>();
		List<Thread> threads = new ArrayList<>();
		attempt(before, new Run(url, null), problems);
		if (problems.isEmpty()) {
			for (Client client : clients) {
				Run run = new Run(url, "client" + (threads.size() + 1));
				threads.add(new Thread(() -> attempt(client, run, problems), run.name()));
			}
		}
		for (Thread thread : threads)
			thread.start();
		for (Thread thread : threads)
			thread.join();
		if (problems.isEmpty())
			attempt(check, new Run(url, null), problems);
		return problems.isEmpty() ? "passed" : "failed: " + problems.get(0).toString().replaceAll("\\s+", " ");
	}

	private static void attempt(Client client, Run run, List<Throwable> problems) {
		try {
			client.run(run);
		} catch (Throwable problem) {
			synchronized (problems) {
				problems.add(problem);
			}
		}
	}
}
