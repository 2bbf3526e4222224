// Stands for `node:https` in the bundle. Node's own loads TLS, 5 MB, so that each member is read where it is used.
const members = ['Agent', 'Server', 'createServer', 'get', 'globalAgent', 'request'];
const later = (name) => ({ enumerable: true, get: () => process.getBuiltinModule('node:https')[name] });
module.exports = Object.defineProperties({}, Object.fromEntries(members.map((name) => [name, later(name)])));
