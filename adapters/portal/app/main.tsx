/** Starts the page: restores the session, then shows the screen of the address. */
import { render } from 'preact'
import { hostSession, renewHostSession } from './api/host-session.js'
import { HAS_HOST_LOGIN } from './api/settings.js'
import { App, SignIn } from './app.js'
import { begin, restore, session } from './state/session.js'
import './style/tokens.css'
import './style/components.css'
import { escapeTextNodes } from './text-nodes.js'

async function start(): Promise<void> {
  escapeTextNodes()
  const restoring = restore()
  // While other tabs are asked for a session, what is shown without one is loaded.
  if (!session.value) SignIn.preload().catch(() => {})
  await restoring
  if (!session.value && HAS_HOST_LOGIN) {
    const found = await hostSession().catch(() => undefined)
    if (found) begin(found)
  }
  if (HAS_HOST_LOGIN) renewHostSession()
  render(<App />, document.querySelector('#app')!)
}

void start()
