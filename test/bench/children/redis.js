/** A Redis of this run's own: on a free port, in a folder of its own. Ends with its parent. */
import { spawn } from 'node:child_process'
import { makeFolder, removeFolder } from '../file-system.js'
import { answerParent } from '../processes.js'
import { freePort } from './free-port.js'
import { processorMs } from './processor-time.js'

/** Keeps nothing, or answers only after what it was told is on the disk. */
const KEEPS = {
  nothing: { appendonly: 'no' },
  all: { appendonly: 'yes', appendfsync: 'always' },
}

let redis

// A signal of its own would end this process without its 'exit'.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))

answerParent({
  /** The port, or undefined where no Redis is installed. */
  async start({ keeps = 'nothing' } = {}) {
    const port = await freePort()
    const folder = makeFolder()
    const options = { port, bind: '127.0.0.1', dir: folder, save: '', ...KEEPS[keeps] }
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
    redis = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] })
    process.on('exit', () => {
      redis.kill('SIGKILL')
      removeFolder(folder)
    })
    return new Promise((resolve, reject) => {
      redis.once('error', (error) => (error.code === 'ENOENT' ? resolve(undefined) : reject(error)))
      redis.once('exit', (code) => reject(new Error(`redis-server ended: ${code}`)))
      let said = ''
      redis.stdout.on('data', (chunk) => {
        said += chunk
        if (said.includes('Ready to accept connections')) resolve(port)
      })
    })
  },
  cpuMs: () => processorMs(redis.pid),
})
