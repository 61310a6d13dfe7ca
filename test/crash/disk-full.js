// @ts-check
/**
 * The disk is full for a while: SQLite on a small file system of its own. Publishing is refused, what was acknowledged
 * is kept, and when there is room again the same process goes on.
 */
import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { Ledger } from './ledger.js'
import { sleep } from './load.js'
import { endNode, isUp, rest } from './node-course.js'
import { spawnNode } from './nodes.js'
import { createProgress } from './progress.js'
import { startReceiver } from './receiver.js'

const ACCOUNTS = 2
const SIZE = '16m'
/** Milliseconds of each part: room, none, room. */
const PART_MS = 500
const MOUNT = `mount -t tmpfs -o size=${SIZE} tmpfs "$FOLDER" && exec "$0" "$@"`

/** Whether this machine lets us mount a file system of our own. */
export const canMount = () =>
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0

/**
 * @param {object} how
 * @param {string} how.seed
 * @param {import('./places.js').Place} how.place its folder is where the file system is mounted, seen by the node alone
 */
export async function runDiskFull({ seed, place }) {
  const ledger = new Ledger()
  const receiver = await startReceiver(seed, ledger)
  const where = /** @type {{ kind: 'sqlite', path: string }} */ (place.where())
  const script = MOUNT.replace('$FOLDER', dirname(where.path))
  const node = spawnNode(ledger, 1, 'sqlite', ['unshare', '-rm', 'sh', '-c', script, process.execPath])
  const slots = createProgress(ledger, { slots: 4, accounts: ACCOUNTS }).slots(node.id, 0)
  const setUp = { port: receiver.port, accounts: ACCOUNTS }
  await node.told('ready')
  node.tell('start', { where, setUp, accounts: ACCOUNTS, slots, again: [], events: 1_000_000, restMs: 5 })
  await isUp(ledger, node)

  const counts = () => ({ acks: ledger.acks.length, refusals: ledger.refusals.length })
  await sleep(PART_MS)
  const room = counts()
  node.tell('fillDisk', {})
  await node.told('full')
  const filled = counts()
  await sleep(PART_MS)
  const full = counts()
  node.tell('freeDisk', {})
  await node.told('free')
  await sleep(PART_MS)
  const after = counts()
  ledger.excused.add('StoreUnavailable')
  await rest(ledger, node)
  await endNode(ledger, node)
  receiver.close()

  if (full.refusals === filled.refusals) fail('it refused nothing although the disk was full')
  if (after.acks <= full.acks) fail('it accepted nothing after there was room again')
  /** @type {[string, number][]} */
  const seen = [
    ['accepted before the disk was full', room.acks],
    ['refused while the disk was full', full.refusals],
    ['accepted after the disk was full', after.acks - full.acks],
  ]
  return { ledger, counts: seen }

  function fail(/** @type {string} */ reason) {
    ledger.failures.push({ node: node.id, reason })
  }
}
