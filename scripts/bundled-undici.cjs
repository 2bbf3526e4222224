// Stands for `undici` in the bundle: a pool that can `dispatch` and `request`. Undici's index gives the class its `request` as well.
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js');
Dispatcher.prototype.request = require('undici/lib/api/api-request.js');
module.exports = { Pool: require('undici/lib/dispatcher/pool.js') };
