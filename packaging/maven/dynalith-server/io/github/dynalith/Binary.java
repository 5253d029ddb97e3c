package io.github.dynalith;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;

/** The program of the server, and its library, as files. */
final class Binary {
	private Binary() {
	}

	/** The name that os-maven-plugin has for this machine, which is the classifier of the jar with its server. */
	static String classifier() {
		String system = System.getProperty("os.name").toLowerCase(Locale.ROOT), cpu = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
		boolean isArm = cpu.equals("aarch64") || cpu.equals("arm64");
		return (system.startsWith("mac") ? "osx" : system) + "-" + (isArm ? "aarch_64" : cpu.equals("amd64") ? "x86_64" : cpu);
	}

	/** DYNALITH_BINARY, the one in the jar for this machine, or the first on PATH. */
	static Path find() throws IOException {
		String named = System.getenv("DYNALITH_BINARY");
		if (named != null && !named.isEmpty())
			return Paths.get(named);
		Path inJar = inJar("dynalith", "sha256");
		if (inJar != null)
			return inJar;
		String places = System.getenv("PATH");
		for (String place : (places == null ? "" : places).split(File.pathSeparator)) {
			Path file = Paths.get(place, "dynalith");
			if (!place.isEmpty() && Files.isExecutable(file) && !Files.isDirectory(file))
				return file;
		}
		throw new FileNotFoundException("dynalith: no jar dynalith-server with the classifier " + classifier() + " in the class path; DYNALITH_BINARY names another server");
	}

	/** DYNALITH_LIBRARY, the one in the jar for this machine, or the name by which the system's linker finds its own. */
	static String findLibrary() throws IOException {
		String named = System.getenv("DYNALITH_LIBRARY");
		if (named != null && !named.isEmpty())
			return Paths.get(named).toAbsolutePath().toString();
		Path inJar = inJar(System.mapLibraryName("dynalith"), "library.sha256");
		return inJar == null ? "dynalith" : inJar.toString();
	}

	/** Null where no jar has it. */
	private static Path inJar(String name, String digestName) throws IOException {
		String folder = "io/github/dynalith/binary/" + classifier() + "/";
		try (InputStream digest = Binary.class.getClassLoader().getResourceAsStream(folder + digestName)) {
			return digest == null ? null : unpacked(folder + name, name, new String(Streams.read(digest), "US-ASCII").trim());
		}
	}

	/** Unpacked once for a user: the folder is named by what is in it, and nobody else may write it. */
	private static Path unpacked(String resource, String name, String digest) throws IOException {
		Path folder = cache().resolve(digest);
		Path file = folder.resolve(name);
		if (Files.isExecutable(file))
			return file;
		Files.createDirectories(folder);
		Path part = Files.createTempFile(folder, "part-", "");
		try {
			try (InputStream in = Binary.class.getClassLoader().getResourceAsStream(resource)) {
				Files.copy(in, part, StandardCopyOption.REPLACE_EXISTING);
			}
			Files.setPosixFilePermissions(part, PosixFilePermissions.fromString("rwx------"));
			Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
		} finally {
			Files.deleteIfExists(part);
		}
		return file;
	}

	/** The user's folder for what can be made again; a temporary one where there is none. */
	private static Path cache() throws IOException {
		String named = System.getenv("XDG_CACHE_HOME");
		boolean isNamed = named != null && named.startsWith("/");
		Path folder = (isNamed ? Paths.get(named) : Paths.get(System.getProperty("user.home", "/"), ".cache")).resolve("dynalith");
		try {
			Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
			if (Files.isWritable(folder) && Files.getOwner(folder).equals(Files.getOwner(Paths.get(System.getProperty("user.home")))))
				return folder;
		} catch (IOException e) {
			// a home that is read-only
		}
		Path own = Files.createTempDirectory("dynalith-");
		own.toFile().deleteOnExit();
		return own;
	}
}
