/** Every row of the table: who measures it, on which stores, and whether the side that is ours can be profiled. */
import { measureExpress, measureNode } from './answers.js'
import { measureBacklog } from './backlog.js'
import { measureDeliveries } from './deliveries.js'
import { measureDurablePeer } from './durable-peer.js'
import { measureFanOut } from './fan-out.js'
import { measureIdle, measureStart } from './footprint.js'
import { measureGrowth } from './growth.js'
import { measureIsolation } from './isolation.js'
import { measureLatency } from './latency.js'
import { measureNodes } from './nodes.js'
import { measurePeers } from './peers.js'
import { STORES } from './places.js'
import { measurePublish } from './publishing.js'
import { measureSources } from './sources.js'
import { measureStalls } from './stalls.js'

const DURABLE = ['sqlite', 'postgres']

/**
 * @typedef {object} Options
 * @property {string} name the row's
 * @property {number} rounds
 * @property {number} pending deliveries that wait, where the row is of a backlog
 * @property {number} most webhooks and attempts of the largest instance, where the row is of growth
 * @property {number} snapshotSeconds how long another session has held its snapshot, where the row is of that
 * @property {string | false} profile a name for profiles of the side that is ours
 * @property {import('./places.js').Places} places for the stores of this measure
 *
 * @type {Record<string, { measure: (options: Options) => Promise<object[]>, stores: readonly string[], profiled?: true }>}
 */
export const MEASURES = {
  P1: { measure: measureDeliveries, stores: ['memory'], profiled: true },
  PEERS: { measure: measurePeers, stores: ['memory'] },
  P2: { measure: measureDeliveries, stores: ['sqlite'], profiled: true },
  P3: { measure: measureDurablePeer, stores: ['postgres'], profiled: true },
  P4: { measure: measureNode, stores: ['memory'], profiled: true },
  P5: { measure: measureExpress, stores: ['memory'], profiled: true },
  P6: { measure: measurePublish, stores: STORES },
  P7: { measure: measureLatency, stores: STORES, profiled: true },
  P8: { measure: measureIsolation, stores: ['memory'], profiled: true },
  P9: { measure: measureFanOut, stores: STORES, profiled: true },
  P10: { measure: measureBacklog, stores: DURABLE },
  P11: { measure: measureNodes, stores: ['postgres'] },
  P12: { measure: measureStalls, stores: STORES },
  P13: { measure: measureIdle, stores: ['memory'] },
  P14: { measure: measureStart, stores: ['memory'] },
  P15: { measure: measureGrowth, stores: STORES },
  SOURCES: { measure: measureSources, stores: ['memory'] },
}
