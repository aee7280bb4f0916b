{
  description = "Git-native circuit breaker for autonomous coding loops";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = nixpkgs.lib.genAttrs systems;
    in {
      packages = each (system: {
        default = nixpkgs.legacyPackages.${system}.callPackage ./packaging/nix/package.nix { };
      });
    };
}
