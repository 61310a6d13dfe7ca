// @ts-check
/** A primary and a standby with asynchronous streaming replication, and a proxy in front of whichever is the primary. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { sleep } from './load.js'

const ROOT = '/usr/lib/postgresql'
const POLL_MS = 20

/** The programs of the newest PostgreSQL; undefined: it is not installed. */
export function findPrograms() {
  try {
    const newest = Math.max(...readdirSync(ROOT).map(Number).filter(Number.isInteger))
    return Number.isFinite(newest) ? join(ROOT, String(newest), 'bin') : undefined
  } catch {
    return undefined
  }
}

/** A port that is free now. */
async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
  probe.close()
  return port
}

/** Processes that a process has started. @param {number} parent */
function childrenOf(parent) {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent ? pid : []
    } catch {
      // It has ended.
      return []
    }
  })
}

/** @param {number} pid @param {NodeJS.Signals} signal */
function signalIfAlive(pid, signal) {
  try {
    process.kill(pid, signal)
  } catch (thrown) {
    if (/** @type {NodeJS.ErrnoException} */ (thrown).code !== 'ESRCH') throw thrown
  }
}

/** Starts both servers; the standby streams from the primary. */
export async function startReplication() {
  const programs = findPrograms()
  if (programs === undefined) throw new Error('PostgreSQL is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'hookswitch-failover-'))
  // PostgreSQL refuses to run as root.
  const account = userInfo().uid === 0 ? { uid: 65_534, gid: 65_534 } : {}
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid)
  const options = { cwd: folder, ...account }
  /** @type {Set<number>} postmasters */
  const running = new Set()
  /** Kills a server with everything that it has started, as if its machine had lost power. @param {number} postmaster */
  const kill = (postmaster) => {
    const all = [postmaster, ...childrenOf(postmaster)]
    for (const pid of all) signalIfAlive(pid, 'SIGKILL')
    running.delete(postmaster)
  }
  const clean = () => {
    for (const postmaster of running) kill(postmaster)
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
  process.once('exit', clean)

  /** @param {string} name @param {readonly string[]} args */
  const run = (name, args) => promisify(execFile)(join(programs, name), [...args], options)
  /** @param {string} data @param {number} port */
  async function start(data, port) {
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: 'off',
      hot_standby: 'on',
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn(join(programs ?? '', 'postgres'), ['-D', data, '-p', String(port), ...flags], {
      ...options,
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    const pid = Number(child.pid)
    running.add(pid)
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    for (;;) {
      try {
        await query(url, 'select 1')
        return { pid, port, url }
      } catch {
        if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}`)
        await sleep(POLL_MS)
      }
    }
  }

  const primaryData = join(folder, 'primary')
  const standbyData = join(folder, 'standby')
  await run('initdb', [
    '-D',
    primaryData,
    '-A',
    'trust',
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
  ])
  const primary = await start(primaryData, await freePort())
  const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres']
  await run('pg_basebackup', [...from, '-D', standbyData, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'])
  const standby = await start(standbyData, await freePort())
  /** @type {number | undefined} */
  let sender
  while (sender === undefined) {
    const [row] = await query(primary.url, `select pid from pg_stat_replication where state = 'streaming'`)
    sender = row?.pid
    if (sender === undefined) await sleep(POLL_MS)
  }
  const walSender = sender

  return {
    primary,
    standby,
    /** The standby gets nothing more of what is committed. */
    cutReplication: () => signalIfAlive(walSender, 'SIGSTOP'),
    killPrimary: () => kill(primary.pid),
    async promote() {
      await query(standby.url, 'select pg_promote()')
    },
    end() {
      process.removeListener('exit', clean)
      clean()
    },
  }
}

/** @param {string} connectionString @param {string} text @param {unknown[]} [values] @returns {Promise<any[]>} */
export async function query(connectionString, text, values) {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}

/** Forwards connections to a port that can be changed. @param {number} first */
export async function startProxy(first) {
  /** @type {number | undefined} */
  let target = first
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  const server = createServer((client) => {
    if (target === undefined) return void client.destroy()
    const upstream = connect(target, '127.0.0.1')
    for (const [socket, other] of /** @type {const} */ ([
      [client, upstream],
      [upstream, client],
    ])) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    /** Closes all connections, and refuses new ones where there is no target. @param {number | undefined} next */
    pointTo(next) {
      target = next
      cut()
    },
    close() {
      server.close()
      cut()
    },
  }
}
