// @ts-check
/**
 * A network namespace for the run: its only interface is `lo`, on which **every** IPv4 and IPv6 address is local. Every
 * dialled address, private or public, is therefore answered and recorded here.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Addresses of `lo`, local even without the routes. */
const CANARIES = ['169.254.169.254/32', '10.0.0.1/32', '203.0.113.7/32']
const MARK = 'HOOKSWITCH_GUARD_NETWORK'

export const isInside = () => process.env[MARK] === 'own'

/** Whether this machine permits network namespaces. */
export const canUnshare = () =>
  spawnSync('unshare', ['-rn', 'ip', 'link', 'show', 'lo'], { stdio: 'ignore' }).status === 0

/**
 * Runs this program again in a network namespace.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<number>} its exit code
 */
export function runInside(program, args) {
  const child = spawn('unshare', ['-rn', process.execPath, program, ...args], {
    stdio: 'inherit',
    env: { ...process.env, [MARK]: 'own' },
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve(code ?? 1))
  })
}

/** Brings `lo` up and makes every address local. */
export function openNetwork() {
  const ip = (/** @type {string[]} */ ...args) => execFileSync('ip', args)
  ip('link', 'set', 'lo', 'up')
  for (const address of CANARIES) ip('addr', 'add', address, 'dev', 'lo')
  ip('route', 'add', 'local', '0.0.0.0/0', 'dev', 'lo')
  ip('-6', 'route', 'add', 'local', '::/0', 'dev', 'lo')
}

/** Number of connection attempts that the kernel counted in this namespace, whatever became of them. */
export function connectionsBegun() {
  const [names = [], values = []] = readFileSync('/proc/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Tcp:'))
    .map((line) => line.split(' '))
  return Number(values[names.indexOf('ActiveOpens')])
}
