/** Starts the page: restores the session, then shows the screen of the address. */
import { render } from 'preact'
import { startHostSession } from './api/host-session.js'
import { HAS_HOST_LOGIN } from './api/settings.js'
import { App } from './app.js'
import { restore } from './state/session.js'
import './style/tokens.css'
import './style/components.css'
import { escapeTextNodes } from './text-nodes.js'

async function start(): Promise<void> {
  escapeTextNodes()
  await (HAS_HOST_LOGIN ? startHostSession() : restore())
  render(<App />, document.querySelector('#app')!)
}

void start()
