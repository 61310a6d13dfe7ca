/** The header of every screen: account, search, and what the user prefers. */
import { useSignal } from '@preact/signals'
import type { AccountDescendant } from 'hookswitch/client'
import { useEffect, useRef } from 'preact/hooks'
import { accountPage, optional, revoke, statusOf } from '../api/api.js'
import { find } from '../api/search.js'
import { describe } from '../state/action.js'
import { notify } from '../state/announce.js'
import { isHelpOpen } from '../state/keyboard.js'
import { LANGUAGES, language, theme, zone } from '../state/preferences.js'
import { useResource } from '../state/resource.js'
import { navigate, route } from '../state/router.js'
import { accountId, isOperator } from '../state/scope.js'
import { end, session } from '../state/session.js'
import { t } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'
import { Select } from './select.js'

export function Header() {
  const { screen } = route.value
  const account = accountId.value
  const link = (target: 'webhooks' | 'live' | 'match' | 'operator', label: string, isCurrent: boolean) => (
    <a
      href={formatRoute({ screen: target, accountId: account })}
      aria-current={isCurrent ? 'page' : undefined}
    >
      {label}
    </a>
  )
  return (
    <header class="top">
      <a class="brand" href={formatRoute({ screen: 'webhooks', accountId: account })}>
        hookswitch
      </a>
      <AccountSwitcher />
      <nav aria-label={t('nav.label')}>
        {link(
          'webhooks',
          t('nav.webhooks'),
          screen === 'webhooks' || screen === 'webhook' || screen === 'new',
        )}
        {link('live', t('nav.live'), screen === 'live')}
        {link('match', t('nav.match'), screen === 'match')}
        {isOperator.value && link('operator', t('nav.operator'), screen === 'operator')}
      </nav>
      <SearchBox />
      <Preferences />
    </header>
  )
}

/** Longest list of accounts in the switcher; other accounts are reached by their address. */
const MAX_ACCOUNTS = 1_000

function AccountSwitcher() {
  const own = session.value!.accountId
  const accounts = useResource(
    async (signal) => {
      const found = await optional(
        accountPage<AccountDescendant>('/descendants', { accountId: own, pageSize: MAX_ACCOUNTS }, signal),
      )
      return found?.items ?? []
    },
    [own],
  )
  const list = accounts.data.value ?? []
  const current = accountId.value
  if (list.length === 0) return <span class="account">{current}</span>
  return (
    <select
      class="account"
      aria-label={t('nav.account')}
      value={current}
      onChange={(event) => navigate({ screen: 'webhooks', accountId: event.currentTarget.value })}
    >
      {!list.some(({ id }) => id === current) && current !== own && (
        <option value={current}>{current}</option>
      )}
      <option value={own}>{t('nav.ownAccount', { id: own })}</option>
      {list.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}

function SearchBox() {
  const isSearching = useSignal(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const text = String(new FormData(form).get('text') ?? '').trim()
    if (text === '' || isSearching.value) return
    isSearching.value = true
    try {
      const found = await find(accountId.value, text)
      if (found) {
        form.reset()
        navigate(found)
      } else notify(t('search.nothing', { text }))
    } catch (thrown) {
      if (statusOf(thrown) !== 401) notify(describe(thrown), true)
    } finally {
      isSearching.value = false
    }
  }
  return (
    <form class="search" role="search" onSubmit={(event) => void submit(event as unknown as SubmitEvent)}>
      <input
        id="search"
        name="text"
        type="search"
        aria-label={t('search.label')}
        placeholder={t('search.placeholder')}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        maxLength={255}
      />
    </form>
  )
}

/** Closes an open menu on Escape, which gives the focus back to it, and on a click elsewhere. */
function useMenu() {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => {
    menu.current!.open = false
    menu.current!.querySelector('summary')!.focus()
  }
  useEffect(() => {
    const onPointer = ({ target }: PointerEvent) => {
      if (!menu.current!.contains(target as Node)) menu.current!.open = false
    }
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape' && menu.current!.open) close()
    }
    document.addEventListener('pointerdown', onPointer)
    document.addEventListener('keydown', onKey)
    return () => {
      document.removeEventListener('pointerdown', onPointer)
      document.removeEventListener('keydown', onKey)
    }
  }, [])
  return { menu, close }
}

function Preferences() {
  const { menu, close } = useMenu()
  const signOut = async () => {
    const ended = end()
    if (ended) await revoke(ended)
  }
  return (
    <details ref={menu} class="menu">
      <summary>{t('menu.title')}</summary>
      <div class="panel">
        <Select
          label={t('menu.zone')}
          value={zone.value}
          options={[
            ['utc', 'UTC'],
            ['local', t('menu.local')],
          ]}
          onChange={(value) => {
            zone.value = value
          }}
        />
        <Select
          label={t('menu.theme')}
          value={theme.value}
          options={[
            ['system', t('menu.system')],
            ['light', t('menu.light')],
            ['dark', t('menu.dark')],
          ]}
          onChange={(value) => {
            theme.value = value
          }}
        />
        <Select
          label={t('menu.language')}
          value={language.value}
          options={LANGUAGES.map((code) => [code, code === 'en' ? 'English' : 'Deutsch'])}
          onChange={(value) => {
            language.value = value
          }}
        />
        <button
          type="button"
          onClick={() => {
            close()
            isHelpOpen.value = true
          }}
        >
          {t('keys.title')}
        </button>
        <button type="button" onClick={() => void signOut()}>
          {t('menu.signOut')}
        </button>
      </div>
    </details>
  )
}
