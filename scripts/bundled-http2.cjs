// Stands for `node:http2` where undici asks for it in the bundle, as undici's own stand-in does in a Node without HTTP/2.
module.exports = { constants: {} };
