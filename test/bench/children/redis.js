/** A Redis of this run's own: on a free port, in a directory of its own, keeping nothing. Ends with its parent. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answerParent } from '../processes.js'
import { listen } from './bare-server.js'

async function freePort() {
  const server = createServer()
  const { port } = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

// A signal of its own would end this process without its 'exit'.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))

answerParent({
  /** The port, or undefined where no Redis is installed. */
  async start() {
    const port = await freePort()
    const directory = mkdtempSync(join(tmpdir(), 'hookswitch-bench-'))
    const options = { port, bind: '127.0.0.1', dir: directory, save: '', appendonly: 'no' }
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
    const redis = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] })
    process.on('exit', () => {
      redis.kill('SIGKILL')
      rmSync(directory, { recursive: true, force: true })
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
})
