// @ts-check
/**
 * The disk is full for a while: SQLite on a small file system of its own. Publishing is refused, what was acknowledged
 * is kept, and when there is room again the same process goes on.
 */
import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { Ledger } from './ledger.js'
import { endNode, isUp, rest, until } from './node-course.js'
import { spawnNode } from './nodes.js'
import { createProgress } from './progress.js'
import { startReceiver } from './receiver.js'

const ACCOUNTS = 2
const SIZE = '64m'
/** Events that are accepted before, refused while the disk is full, and accepted after. */
const MANY = 200
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

  const { acks, refusals } = ledger
  await until(ledger, node, 'it accepted too little', () => acks.length >= MANY)
  const before = acks.length
  node.tell('fillDisk', {})
  await until(ledger, node, 'it refused nothing while the disk was full', () => refusals.length >= MANY)
  const full = acks.length
  node.tell('freeDisk', {})
  await until(ledger, node, 'it accepted nothing once there was room', () => acks.length >= full + MANY)
  ledger.excused.add('StoreUnavailable')
  await rest(ledger, node)
  await endNode(ledger, node)
  receiver.close()

  /** @type {[string, number][]} */
  const counts = [
    ['accepted before the disk was full', before],
    ['refused while the disk was full', refusals.length],
    ['accepted after the disk was full', acks.length - full],
  ]
  return { ledger, counts }
}
