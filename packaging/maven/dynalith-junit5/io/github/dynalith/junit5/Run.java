package io.github.dynalith.junit5;

import java.net.URI;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.extension.ExtensionContext;

import io.github.dynalith.DynalithServer;
import io.github.dynalith.Namespace;

/** The server of this virtual machine, and namespaces that are free. It ends with the virtual machine. */
final class Run {
	private static Run run;
	private final DynalithServer server; // null where the property dynalith.url names one that runs already
	private final URI url;
	private final AtomicLong accounts;
	private final Queue<Clients> free = new ConcurrentLinkedQueue<>();

	private Run(String address, String options) {
		server = address == null ? DynalithServer.start(options.isEmpty() ? new String[0] : options.split("\\s+")) : null;
		url = server == null ? URI.create(address) : server.url();
		// Other forks of Surefire, and other workers of Gradle, may use the same server.
		long fork = Long.getLong("surefire.forkNumber", Long.getLong("org.gradle.test.worker", 0));
		accounts = new AtomicLong(fork * 1_000_000);
	}

	static synchronized Run of(ExtensionContext context) {
		if (run == null)
			run = new Run(context.getConfigurationParameter("dynalith.url").orElse(null), context.getConfigurationParameter("dynalith.options").orElse("").trim());
		return run;
	}

	/** An empty namespace. */
	Clients take() {
		Clients clients = free.poll();
		if (clients == null)
			clients = new Clients(new Namespace(url, accounts.incrementAndGet(), "us-east-1"));
		clients.namespace.reset();
		return clients;
	}

	void giveBack(Clients clients) {
		clients.namespace.reset();
		free.add(clients);
	}

	long logSize() {
		return server == null ? 0 : server.logSize();
	}

	String log(long start) {
		return server == null ? "" : server.log(start);
	}
}
