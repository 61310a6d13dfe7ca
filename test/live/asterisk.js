// @ts-check
/** Starts an Asterisk that is installed on this machine, under a prefix or in a root folder, with a configuration written for the test. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { writeFiles } from './asterisk-config.js'
import { waitUntil } from './wait-until.js'

/**
 * Where Asterisk is: `program` is its path inside `root`; with another root than `/` it is started by chroot.
 *
 * @param {string} folder `/`, a prefix with `sbin/asterisk`, or a root folder with `usr/sbin/asterisk`
 */
export function locateAsterisk(folder) {
  const isThere = (/** @type {string} */ path) => existsSync(join(folder, path))
  if (folder !== '/' && isThere('sbin/asterisk') && !isThere('usr/sbin/asterisk'))
    return { root: '/', program: join(folder, 'sbin/asterisk'), etc: join(folder, 'etc/asterisk') }
  const program = ['/usr/sbin/asterisk', '/usr/local/sbin/asterisk'].find(isThere)
  return program === undefined ? undefined : { root: folder, program, etc: '/etc/asterisk' }
}

/**
 * The `[directories]` of the installed Asterisk, with all that it writes in a folder of the test.
 *
 * @param {string} installed text of the installed `asterisk.conf`
 * @param {string} folder
 * @param {string | undefined} modules where the modules are, if it does not say so
 */
export function asteriskConf(installed, folder, modules) {
  const directories = new Map(
    [...installed.matchAll(/^\s*(ast\w+dir)\s*=>?\s*([^;\s]+)/gm)].map(([, name, path]) => [name, path]),
  )
  if (modules !== undefined && !directories.has('astmoddir')) directories.set('astmoddir', modules)
  directories.set('astetcdir', folder)
  for (const name of ['astdbdir', 'astspooldir', 'astrundir', 'astlogdir']) directories.set(name, folder)
  const lines = [...directories].map(([name, path]) => `${name} => ${path}`)
  return ['[directories]', ...lines, '[options]', 'systemname = live', ''].join('\n')
}

/**
 * Starts Asterisk and waits until it accepts AMI connections.
 *
 * @param {NonNullable<ReturnType<typeof locateAsterisk>>} installation
 * @param {Record<string, string>} files
 * @param {{ address: string, port: number }} ami
 */
export async function startAsterisk({ root, program, etc }, files, ami) {
  mkdirSync(join(root, 'tmp'), { recursive: true })
  const folder = mkdtempSync(join(root, 'tmp/asterisk-'))
  const inside = root === '/' ? folder : folder.slice(root.replace(/\/$/, '').length)
  const conf = join(root, etc, 'asterisk.conf')
  const installed = existsSync(conf) ? readFileSync(conf, 'utf8') : ''
  mkdirSync(join(folder, 'cdr-csv'))
  writeFiles(folder, { ...files, 'asterisk.conf': asteriskConf(installed, inside, modulesIn(root)) })
  const flags = ['-C', join(inside, 'asterisk.conf'), '-f', '-n']
  const start = async () => {
    const [command, ...argv] = root === '/' ? [program, ...flags] : ['chroot', root, program, ...flags]
    const child = spawn(String(command), argv, { stdio: ['ignore', 'ignore', 'pipe'] })
    let output = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-10_000)
    })
    let hasEnded = false
    const ended = new Promise((resolve) => {
      const end = () => {
        hasEnded = true
        resolve(undefined)
      }
      child.once('error', end)
      child.once('exit', end)
    })
    let isListening = false
    const look = () => {
      if (hasEnded) throw new Error(`Asterisk ended at its start: ${output}`)
      if (isListening) return true
      const socket = connect({ host: ami.address, port: ami.port })
      socket
        .on('error', () => {})
        .once('connect', () => {
          isListening = true
          socket.destroy()
        })
      return undefined
    }
    await waitUntil('the manager interface of Asterisk', look, 60_000)
    return { child, ended }
  }
  let running = await start()
  const kill = async (/** @type {NodeJS.Signals} */ signal) => {
    running.child.kill(signal)
    await running.ended
  }
  return {
    /** The lines of its call detail records. */
    records() {
      const file = join(folder, 'cdr-csv/Master.csv')
      return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
    },
    /** Kills it, as a power cut would, and starts it again. */
    async restart() {
      await kill('SIGKILL')
      running = await start()
    },
    async end() {
      await kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Debian's modules are in a folder of the architecture. */
function modulesIn(/** @type {string} */ root) {
  const lib = join(root, 'usr/lib')
  const names = existsSync(lib) ? readdirSync(lib) : []
  const paths = ['asterisk/modules', ...names.map((name) => `${name}/asterisk/modules`)]
  const found = paths.find((path) => existsSync(join(lib, path)))
  return found === undefined ? undefined : `/usr/lib/${found}`
}
