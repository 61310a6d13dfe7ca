// @ts-check
/**
 * A group of instances in the same state, one behind each server. A request that some server may handle differently goes
 * to a second group: a state that differs, or one generated id more, would make all later responses incomparable.
 */
import { openConnection } from './connection.js'
import { startInstance } from './instance.js'

/**
 * @typedef {object} GroupMember
 * @property {import('./instance.js').Instance} instance
 * @property {ReturnType<typeof openConnection>} connection
 * @property {boolean} isInSync whether it has received the same requests as the first member
 *
 * @typedef {object} ServerGroup
 * @property {readonly GroupMember[]} all
 * @property {(seed: string) => void} reseed
 * @property {(ms: number) => Promise<void>} advance
 * @property {() => Promise<void>} settle
 * @property {() => Promise<void>} close
 */

/** Servers whose test bridge ends a response only when the request is closed. */
const CLOSING_SERVERS = ['fetch']

/**
 * @param {Pick<import('./epoch.js').EpochOptions, 'servers' | 'raw' | 'fault'>} options
 * @param {string} seed
 * @returns {Promise<ServerGroup>}
 */
export async function startServerGroup({ servers, raw, fault }, seed) {
  const all = await Promise.all(
    Object.entries(servers).map(async ([name, startServer]) => {
      const injectFault = fault?.server === name ? fault.inject : undefined
      const instance = await startInstance(name, startServer, seed, injectFault)
      const connection = openConnection(raw, instance.server.port, !CLOSING_SERVERS.includes(name))
      return { instance, connection, isInSync: true }
    }),
  )
  return {
    all,
    reseed(stepSeed) {
      for (const { instance } of all) instance.reseed(stepSeed)
    },
    async advance(ms) {
      for (const { instance } of all) await instance.advance(ms)
    },
    async settle() {
      await Promise.all(all.map(({ instance }) => instance.settle()))
    },
    async close() {
      for (const { connection } of all) connection.close()
      await Promise.all(all.map(({ instance }) => instance.close()))
    },
  }
}
