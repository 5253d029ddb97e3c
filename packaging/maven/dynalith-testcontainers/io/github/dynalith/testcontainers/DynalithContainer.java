package io.github.dynalith.testcontainers;

import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

import io.github.dynalith.Namespace;

/** The server in a container, in memory: for those who have an image of it. */
public class DynalithContainer extends GenericContainer<DynalithContainer> {
	public static final int PORT = 8000;

	public DynalithContainer(String image) {
		this(DockerImageName.parse(image));
	}

	public DynalithContainer(DockerImageName image) {
		super(image);
		withExposedPorts(PORT);
		withCreateContainerCmdModifier(command -> command.withEntrypoint("dynalith"));
		withEnv("DYNALITH_IN_MEMORY", "true");
		withOptions();
		waitingFor(Wait.forHttp("/_dynalith/health").forPort(PORT).forStatusCode(200));
	}

	/** Options of the server, as on its command line. */
	public DynalithContainer withOptions(String... options) {
		List<String> command = new ArrayList<>(Arrays.asList("--host", "0.0.0.0", "--port", String.valueOf(PORT)));
		command.addAll(Arrays.asList(options));
		withCommand(command.toArray(new String[0]));
		return this;
	}

	/** The address for clients of the SDK, once it runs. */
	public URI url() {
		return URI.create("http://" + getHost() + ":" + getMappedPort(PORT));
	}

	/** Tables of their own; the account is a number of at most 12 digits, and the access key of their clients. */
	public Namespace namespace(long account) {
		return new Namespace(url(), account, "us-east-1");
	}
}
