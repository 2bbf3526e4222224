#!/bin/sh
# Builds what the image holds: a root file system of Node, the libraries that it needs, the certificates of public authorities,
# and the packed service with its production dependencies. There is no shell in it, no package manager and no compiler.
#
#   deploy/image/rootfs.sh TARBALLS TARGET
#
# TARBALLS is the folder with the packed packages (`npm run build` makes dist/packages), TARGET a folder that is not there yet. Needs
# Debian, root (for owners), a network, and the project's packages, which bring Node. The Debian packages are of the machine's release.
set -eu

project=$(cd "$(dirname "$0")/../.." && pwd)
PATH="$project/node_modules/.bin:$PATH"
tarballs=$(cd "$1" && pwd)
mkdir "$2"
target=$(cd "$2" && pwd)
# Of the user that runs the service; Kubernetes wants a number, and other images use the same one.
user=65532

debs=$(mktemp -d)
trap 'rm -rf "$debs"' EXIT
apt-get update -qq
(cd "$debs" && apt-get -o APT::Sandbox::User=root download -qq base-files libc6 libgcc-s1 libstdc++6 ca-certificates)
# What scanners of vulnerabilities read, as in other images without a package manager.
mkdir -p "$target/var/lib/dpkg/status.d"
for deb in "$debs"/*.deb; do
  name=$(dpkg-deb --field "$deb" Package)
  dpkg-deb --field "$deb" > "$target/var/lib/dpkg/status.d/$name"
  if [ "$name" = ca-certificates ]; then dpkg-deb --extract "$deb" "$debs/$name"; else dpkg-deb --extract "$deb" "$target"; fi
done
# In one file, as that package would make it with programs that are not here. The service itself trusts what Node brings along.
mkdir -p "$target/etc/ssl/certs" "$target/usr/share/doc/ca-certificates"
cat "$debs"/ca-certificates/usr/share/ca-certificates/mozilla/*.crt > "$target/etc/ssl/certs/ca-certificates.crt"
cp "$debs/ca-certificates/usr/share/doc/ca-certificates/copyright" "$target/usr/share/doc/ca-certificates/"
# Conversions between character sets, which Node has of its own.
rm -rf "$target"/usr/lib/*/gconv

printf 'root:x:0:0:root:/root:/sbin/nologin\ntally:x:%s:%s::/var/lib/tallystick:/sbin/nologin\n' $user $user \
  > "$target/etc/passwd"
printf 'root:x:0:\ntally:x:%s:\n' $user > "$target/etc/group"
mkdir -p "$target/tmp" "$target/proc" "$target/sys" "$target/dev" "$target/usr/bin"
chmod 1777 "$target/tmp"
install -d -m 700 -o $user -g $user "$target/var/lib/tallystick"

install -m 755 "$project"/node_modules/node-linux-*/bin/node "$target/usr/bin/node"
node "$project/deploy/image/install.js" "$tarballs" "$target/opt/tallystick"
# What only compilers and debuggers read is two fifths of the packages.
find "$target/opt" -type f \( -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.map' \) -delete
# Of it only the files of vocabularies are read.
for part in cjs esm src; do rm -rf "$target/opt/tallystick/node_modules/gpt-tokenizer/$part"; done
# Of AWS's packages, what a bundler would read: Node takes `dist-cjs`.
find "$target/opt/tallystick/node_modules/@aws-sdk" "$target/opt/tallystick/node_modules/@smithy" -type d -name dist-es -prune -exec rm -rf {} +
# Nor does the service read pages for people. Licences stay.
find "$target/opt" -type f -name '*.md' ! -iname '*licen*' ! -iname 'notice*' ! -iname 'copying*' -delete
install -m 644 "$project/deploy/image/healthcheck.js" "$target/opt/tallystick/healthcheck.js"
install -m 755 "$project/deploy/image/tally" "$target/usr/bin/tally"
