export { streamBundle, streamExport } from './bundle-stream.ts';
export { type BegunExport, beginExport, exportListing, findExport, type RoomExport } from './export.ts';
export { refuseEmptyPeriod } from './room.ts';
