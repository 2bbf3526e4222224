// Stands for `node:tls` in the bundle, for files that ask for nothing else of it; see bundled-https.cjs.
module.exports = {
  get TLSSocket() {
    return process.getBuiltinModule('node:tls').TLSSocket;
  },
};
