# For `callPackage`. The end-to-end tests take minutes and are the gate's (.ci/run): here it is only built and started.
{ lib, stdenv, rustPlatform, installShellFiles, git, versionCheckHook }:

let
  top = ../..;
  cargo = fromTOML (builtins.readFile (top + "/Cargo.toml"));
in
rustPlatform.buildRustPackage {
  pname = "andon";
  version = cargo.workspace.package.version;

  src = lib.cleanSource top;
  cargoLock.lockFile = top + "/Cargo.lock";
  cargoBuildFlags = [ "--package" "andon" ];

  nativeBuildInputs = [ installShellFiles git ];
  doCheck = false;

  postInstall = lib.optionalString (stdenv.buildPlatform.canExecute stdenv.hostPlatform) ''
    $out/bin/andon man --all man
    installManPage man/*
    for shell in bash zsh fish; do
      $out/bin/andon completions $shell > andon.$shell
      installShellCompletion andon.$shell
    done
  '';

  doInstallCheck = true;
  nativeInstallCheckInputs = [ versionCheckHook ];

  meta = {
    description = "Git-native circuit breaker for autonomous coding loops";
    homepage = cargo.workspace.package.repository;
    license = with lib.licenses; [ mit asl20 ];
    mainProgram = "andon";
  };
}
