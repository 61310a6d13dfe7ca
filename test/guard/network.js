// @ts-check
/**
 * A network of its own for the run: its only interface is `lo`, on which **every** address of IPv4 and IPv6 is local.
 * So whatever is dialled, be it an address inside a host's network or one of the internet, is answered here and seen.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** What stands on `lo` by name, so that they would be local without the routes too. */
const CANARIES = ['169.254.169.254/32', '10.0.0.1/32', '203.0.113.7/32']
const MARK = 'HOOKSWITCH_GUARD_NETWORK'

export const isInside = () => process.env[MARK] === 'own'

/** Whether this machine lets us have a network of our own. */
export const canUnshare = () =>
  spawnSync('unshare', ['-rn', 'ip', 'link', 'show', 'lo'], { stdio: 'ignore' }).status === 0

/**
 * Runs this program again in a network of its own.
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

/** How many connections this network has seen begin, as its kernel counts them: answered, refused or never heard of again. */
export function connectionsBegun() {
  const [names = [], values = []] = readFileSync('/proc/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Tcp:'))
    .map((line) => line.split(' '))
  return Number(values[names.indexOf('ActiveOpens')])
}
