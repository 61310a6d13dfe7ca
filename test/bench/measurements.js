/** The registry of rows: the function that measures each, the stores it runs on, and whether it can be profiled. */

import { measureAccounts } from './accounts.js'
import { measureBacklog } from './backlog.js'
import { measureCrash } from './crash-restart.js'
import { measureDeliveries } from './deliveries.js'
import { measureDurablePeer } from './durable-peer.js'
import { measureStalls } from './event-loop-stalls.js'
import { measureFanOut } from './fan-out.js'
import { measureIdle, measureStart } from './footprint.js'
import { measureGrowth } from './growth.js'
import { measureHostileTenant } from './hostile-tenant.js'
import { measureExpress, measureNode } from './http-reads.js'
import { measureStreams } from './idle-streams.js'
import { measureIsolation } from './isolation.js'
import { measureDead } from './isolation-dead.js'
import { measureLatency } from './latency.js'
import { measureOutage } from './outage.js'
import { measurePage } from './page.js'
import { measurePeers } from './peers.js'
import { measurePublish } from './publishing.js'
import { measureRateLimits } from './rate-limits.js'
import { measureReplay } from './replay.js'
import { measureNodes } from './scale-out.js'
import { measureServing } from './serving.js'
import { measureSizing } from './sizing.js'
import { measureSources } from './sources.js'
import { measureStatistics } from './statistics-queries.js'
import { STORE_KINDS } from './stores.js'
import { measureWhy } from './why.js'

const DURABLE = ['sqlite', 'postgres']

/**
 * @typedef {object} Options
 * @property {string} name of the row, such as `P1`
 * @property {number} rounds
 * @property {number} pending number of waiting deliveries, for rows with a backlog
 * @property {number} largest number of webhooks and attempts in the largest instance, for P15
 * @property {number} snapshotSeconds how long another session holds a snapshot before the measurement, for P10
 * @property {number} limitSeconds how long receivers with a limit get requests, for P18
 * @property {number} outageSeconds how long receivers are away, for P19
 * @property {string | false} profile name of the CPU profiles of the hookswitch side; `false`: none
 * @property {import('./stores.js').Stores} stores the stores of this measurement
 *
 * @type {Record<string, { measure: (options: Options) => Promise<object[]>, storeKinds: readonly string[],
 *   profiled?: true }>}
 */
export const MEASUREMENTS = {
  P1: { measure: measureDeliveries, storeKinds: ['memory'], profiled: true },
  PEERS: { measure: measurePeers, storeKinds: ['memory'] },
  P2: { measure: measureDeliveries, storeKinds: ['sqlite'], profiled: true },
  P3: { measure: measureDurablePeer, storeKinds: ['postgres'], profiled: true },
  P4: { measure: measureNode, storeKinds: ['memory'], profiled: true },
  P5: { measure: measureExpress, storeKinds: ['memory'], profiled: true },
  P6: { measure: measurePublish, storeKinds: STORE_KINDS },
  P7: { measure: measureLatency, storeKinds: STORE_KINDS, profiled: true },
  P8: { measure: measureIsolation, storeKinds: ['memory'], profiled: true },
  P8A: { measure: measureDead, storeKinds: STORE_KINDS, profiled: true },
  P8B: { measure: measureDead, storeKinds: STORE_KINDS, profiled: true },
  P8C: { measure: measureDead, storeKinds: STORE_KINDS, profiled: true },
  P8D: { measure: measureDead, storeKinds: STORE_KINDS, profiled: true },
  P9: { measure: measureFanOut, storeKinds: STORE_KINDS, profiled: true },
  P10: { measure: measureBacklog, storeKinds: DURABLE },
  P11: { measure: measureNodes, storeKinds: ['postgres'] },
  P12: { measure: measureStalls, storeKinds: STORE_KINDS },
  P13: { measure: measureIdle, storeKinds: ['memory'] },
  P14: { measure: measureStart, storeKinds: ['memory'] },
  P15: { measure: measureGrowth, storeKinds: STORE_KINDS },
  P16: { measure: measureStatistics, storeKinds: DURABLE },
  P17: { measure: measureStreams, storeKinds: ['memory'] },
  P18: { measure: measureRateLimits, storeKinds: STORE_KINDS },
  P19: { measure: measureOutage, storeKinds: STORE_KINDS },
  P20: { measure: measureHostileTenant, storeKinds: STORE_KINDS, profiled: true },
  P20A: { measure: measureHostileTenant, storeKinds: STORE_KINDS, profiled: true },
  P20B: { measure: measureHostileTenant, storeKinds: STORE_KINDS, profiled: true },
  P20C: { measure: measureHostileTenant, storeKinds: STORE_KINDS, profiled: true },
  P20D: { measure: measureHostileTenant, storeKinds: STORE_KINDS, profiled: true },
  P20E: { measure: measureHostileTenant, storeKinds: STORE_KINDS, profiled: true },
  P20F: { measure: measureHostileTenant, storeKinds: STORE_KINDS, profiled: true },
  P23: { measure: measureCrash, storeKinds: DURABLE },
  REPLAY: { measure: measureReplay, storeKinds: DURABLE },
  WHY: { measure: measureWhy, storeKinds: DURABLE },
  PAGE: { measure: measurePage, storeKinds: DURABLE },
  ACCOUNTS: { measure: measureAccounts, storeKinds: STORE_KINDS },
  SIZING: { measure: measureSizing, storeKinds: STORE_KINDS },
  SERVE: { measure: measureServing, storeKinds: ['sqlite'] },
  SOURCES: { measure: measureSources, storeKinds: ['memory'] },
}
