// @ts-check
/**
 * The services that a run asks, one behind each face, all in the same state. What a face may take otherwise is asked of
 * others, its likes, that are not needed any more: a state that differs, or an id more, would end all comparing.
 */
import { openLink } from './link.js'
import { openWorld } from './world.js'

/**
 * @typedef {object} Member
 * @property {import('./world.js').World} world
 * @property {ReturnType<typeof openLink>} link
 * @property {boolean} isInStep whether what was asked of it so far is what was asked of the first
 *
 * @typedef {object} Members
 * @property {readonly Member[]} all
 * @property {(seed: string) => void} reseed
 * @property {(ms: number) => Promise<void>} advance
 * @property {() => Promise<void>} settle
 * @property {() => Promise<void>} close
 */

/** Their bridge in the tests ends an answer only when the request is closed. */
const CLOSING = ['fetch']

/**
 * @param {Pick<import('./course.js').How, 'faces' | 'raw' | 'doctor'>} how
 * @param {string} seed
 * @returns {Promise<Members>}
 */
export async function openMembers({ faces, raw, doctor }, seed) {
  const all = await Promise.all(
    Object.entries(faces).map(async ([name, open]) => {
      const world = await openWorld(name, open, seed, doctor?.face === name ? doctor.service : undefined)
      return { world, link: openLink(raw, world.face.port, !CLOSING.includes(name)), isInStep: true }
    }),
  )
  return {
    all,
    reseed(step) {
      for (const { world } of all) world.reseed(step)
    },
    async advance(ms) {
      for (const { world } of all) await world.advance(ms)
    },
    async settle() {
      await Promise.all(all.map(({ world }) => world.settle()))
    },
    async close() {
      for (const { link } of all) link.close()
      await Promise.all(all.map(({ world }) => world.close()))
    },
  }
}
