/** A Redis server for one run: on a free port, in a new folder. Ends with its parent. */
import { spawn } from 'node:child_process'
import { createFolder, removeFolder } from '../file-system.js'
import { handleRequests } from '../processes.js'
import { cpuMsOf } from './cpu-time.js'
import { findFreePort } from './free-port.js'

/** No persistence, or every write is flushed to the disk before the reply. */
const PERSISTENCE = {
  none: { appendonly: 'no' },
  always: { appendonly: 'yes', appendfsync: 'always' },
}

let redis

// By default a signal ends a process without its 'exit' event.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))

handleRequests({
  /** The port, or `undefined` if Redis is not installed. */
  async start({ persistence = 'none' } = {}) {
    const port = await findFreePort()
    const folder = createFolder()
    const options = { port, bind: '127.0.0.1', dir: folder, save: '', ...PERSISTENCE[persistence] }
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
    redis = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] })
    process.on('exit', () => {
      redis.kill('SIGKILL')
      removeFolder(folder)
    })
    return new Promise((resolve, reject) => {
      redis.once('error', (error) => (error.code === 'ENOENT' ? resolve(undefined) : reject(error)))
      redis.once('exit', (code) => reject(new Error(`redis-server ended: ${code}`)))
      let output = ''
      redis.stdout.on('data', (chunk) => {
        output += chunk
        if (output.includes('Ready to accept connections')) resolve(port)
      })
    })
  },
  cpuMs: () => cpuMsOf(redis.pid),
})
