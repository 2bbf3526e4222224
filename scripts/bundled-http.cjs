// Stands for `node:http` in the bundle. An `import` of Node's own reads its every property, and that of `WebSocket` loads undici:
// 60 ms of CPU at each start.
module.exports = process.getBuiltinModule('node:http');
