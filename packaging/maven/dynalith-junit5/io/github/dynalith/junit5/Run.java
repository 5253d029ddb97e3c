package io.github.dynalith.junit5;

import java.net.URI;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;

import org.junit.jupiter.api.extension.ExtensionContext;

import io.github.dynalith.DynalithServer;
import io.github.dynalith.InProcess;
import io.github.dynalith.Namespace;

/** The server of this virtual machine, and namespaces that are free. It ends with the virtual machine. There is one in this process and one beside it, where both are used. */
final class Run {
	private static Run inProcess, beside;
	private final LongFunction<Namespace> namespaces;
	private final LongSupplier logSize;
	private final LongFunction<String> log;
	private final AtomicLong accounts;
	private final Queue<Clients> free = new ConcurrentLinkedQueue<>();

	private Run(LongFunction<Namespace> namespaces, LongSupplier logSize, LongFunction<String> log) {
		this.namespaces = namespaces;
		this.logSize = logSize;
		this.log = log;
		// Other forks of Surefire, and other workers of Gradle, may use the same server.
		long fork = Long.getLong("surefire.forkNumber", Long.getLong("org.gradle.test.worker", 0));
		accounts = new AtomicLong(fork * 1_000_000);
	}

	private static Run inProcess(String... options) {
		InProcess server = InProcess.open(options);
		return new Run(server::namespace, server::logSize, server::log);
	}

	private static Run beside(String address, String... options) {
		if (address != null) // one that runs already, of whose log we know nothing
			return new Run(account -> new Namespace(URI.create(address), account, "us-east-1"), () -> 0, start -> "");
		DynalithServer server = DynalithServer.start(options);
		return new Run(server::namespace, server::logSize, server::log);
	}

	static synchronized Run of(ExtensionContext context, boolean isInProcess) {
		String text = context.getConfigurationParameter("dynalith.options").orElse("").trim();
		String[] options = text.isEmpty() ? new String[0] : text.split("\\s+");
		if (isInProcess)
			return inProcess = inProcess == null ? inProcess(options) : inProcess;
		return beside = beside == null ? beside(context.getConfigurationParameter("dynalith.url").orElse(null), options) : beside;
	}

	/** An empty namespace. */
	Clients take() {
		Clients clients = free.poll();
		if (clients == null)
			clients = new Clients(namespaces.apply(accounts.incrementAndGet()));
		clients.namespace.reset();
		return clients;
	}

	void giveBack(Clients clients) {
		clients.namespace.reset();
		free.add(clients);
	}

	long logSize() {
		return logSize.getAsLong();
	}

	String log(long start) {
		return log.apply(start);
	}
}
