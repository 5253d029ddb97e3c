# nix-build packaging/nix, or callPackage of this file: built from the sources beside it. SQLite is Nix' own.
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "dynalith";
  version = builtins.head (builtins.match ''.*DYNALITH_VERSION "([^"]*)".*'' (builtins.readFile ../../server/version.h));
  src = pkgs.lib.cleanSource ../..;

  buildInputs = [ pkgs.libmicrohttpd pkgs.cjson pkgs.sqlite pkgs.openssl pkgs.zlib pkgs.libyaml pkgs.libpq pkgs.zstd ];
  enableParallelBuilding = true;
  dontConfigure = true;

  buildPhase = ''
    runHook preBuild
    patchShebangs scripts packaging
    make -s -j"$NIX_BUILD_CORES" FLAVOUR=release LINK=shared SQLITE=system all
    runHook postBuild
  '';
  installPhase = ''
    runHook preInstall
    install -D -m 755 build/release/dynalith "$out/bin/dynalith"
    install -D -m 644 docs/dynalith.1 "$out/share/man/man1/dynalith.1"
    install -D -m 644 LICENSE "$out/share/licenses/dynalith/LICENSE"
    runHook postInstall
  '';
  doInstallCheck = true;
  installCheckPhase = ''
    "$out/bin/dynalith" --version
  '';

  meta = {
    description = "A server for the DynamoDB API";
    license = pkgs.lib.licenses.asl20;
    mainProgram = "dynalith";
    platforms = pkgs.lib.platforms.unix;
  };
}
