// @ts-check
/**
 * A full disk: SQLite on a small file system. While the disk is full, publishing is refused and what was acknowledged
 * stays; once there is space again, the same process continues.
 */
import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { History } from './history.js'
import { terminateNode, waitForStart, waitUntil, waitUntilIdle } from './node-waits.js'
import { spawnNode } from './nodes.js'
import { createProgress } from './progress.js'
import { startReceiver } from './receiver.js'

const ACCOUNTS = 2
const SIZE = '64m'
/** Events to be accepted before, refused while the disk is full, and accepted after. */
const EVENTS = 200
const MOUNT = `mount -t tmpfs -o size=${SIZE} tmpfs "$FOLDER" && exec "$0" "$@"`

/** Whether this machine allows mounting a private file system. */
export const canMount = () =>
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0

/**
 * @param {object} options
 * @param {string} options.seed
 * @param {import('./test-store.js').TestStore} options.store the file system is mounted at its folder, in the node's
 *   mount namespace
 */
export async function runDiskFull({ seed, store }) {
  const history = new History()
  const receiver = await startReceiver(seed, history)
  const location = /** @type {{ kind: 'sqlite', path: string }} */ (store.location())
  const script = MOUNT.replace('$FOLDER', dirname(location.path))
  const node = spawnNode(history, 1, 'sqlite', ['unshare', '-rm', 'sh', '-c', script, process.execPath])
  const slots = createProgress(history, { slots: 4, accounts: ACCOUNTS }).slots(node.id, 0)
  const setUp = { port: receiver.port, accounts: ACCOUNTS }
  await node.waitFor('ready')
  node.send('start', {
    location,
    setUp,
    accounts: ACCOUNTS,
    slots,
    republish: [],
    events: 1_000_000,
    pauseMs: 5,
  })
  await waitForStart(history, node)

  const { acks, refusals } = history
  await waitUntil(history, node, 'it accepted too few events', () => acks.length >= EVENTS)
  const before = acks.length
  node.send('fillDisk', {})
  await waitUntil(
    history,
    node,
    'it refused nothing while the disk was full',
    () => refusals.length >= EVENTS,
  )
  const full = acks.length
  node.send('freeDisk', {})
  await waitUntil(
    history,
    node,
    'it accepted nothing after there was space again',
    () => acks.length >= full + EVENTS,
  )
  history.expectedRefusals.add('StoreUnavailable')
  await waitUntilIdle(history, node)
  await terminateNode(history, node)
  receiver.close()

  /** @type {[string, number][]} */
  const counts = [
    ['accepted before the disk was full', before],
    ['refused while the disk was full', refusals.length],
    ['accepted after the disk was full', acks.length - full],
  ]
  return { history, counts }
}
