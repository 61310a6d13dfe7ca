/** The header of every screen: the host's brand, the account, the sections, the search and the user's menu. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { SEARCH_ID } from '../state/keyboard.js'
import { theme } from '../state/preferences.js'
import { navigate, route } from '../state/router.js'
import { accountId, isOperator, userName } from '../state/scope.js'
import { t } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'
import { AccountSwitcher } from './account-switcher.js'
import { Brand } from './brand.js'
import { Button, LinkButton } from './button.js'
import { Icon } from './icon.js'
import { lazy } from './lazy.js'
import { Popup } from './popup.js'

export function Header() {
  const account = accountId.value
  return (
    <>
      <button
        type="button"
        class="btn skip"
        onClick={() => document.querySelector<HTMLElement>('#main h1')?.focus()}
      >
        {t('nav.skip')}
      </button>
      <header class="top">
        <Brand href={formatRoute({ screen: 'webhooks', accountId: account })} />
        <span class="slash" aria-hidden="true">
          /
        </span>
        <AccountSwitcher />
        <Sections />
        <SearchBox />
        <span class="phone push">
          <LinkButton
            kind="quiet"
            icon="find"
            label={t('search.title')}
            href={formatRoute({ screen: 'search', accountId: account })}
          />
        </span>
        <span class="wide-only">
          <Button kind="quiet" icon="half" label={t('menu.lightOrDark')} onClick={toggleTheme} />
        </span>
        <UserMenu />
      </header>
    </>
  )
}

/** The section to which each screen belongs. */
const SECTION: Readonly<Record<string, string>> = {
  webhooks: 'webhooks',
  webhook: 'webhooks',
  new: 'webhooks',
  delivery: 'webhooks',
  call: 'webhooks',
}

function Sections() {
  const { screen } = route.value
  const current = SECTION[screen] ?? screen
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    // On a phone the sections are wider than the window.
    const box = nav.current!
    const link = box.querySelector<HTMLElement>('[aria-current]')
    if (link) box.scrollLeft = link.offsetLeft - box.offsetLeft + link.offsetWidth - box.clientWidth
  }, [current, isOperator.value])
  const sections = [
    ['webhooks', t('nav.webhooks')],
    ['live', t('nav.live')],
    ['match', t('nav.match')],
    ...(isOperator.value ? [['operator', t('nav.operator')] as const] : []),
  ] as const
  return (
    <nav ref={nav} class="nav" aria-label={t('nav.label')}>
      {sections.map(([name, text]) => (
        <a
          key={name}
          href={formatRoute({ screen: name, accountId: accountId.value })}
          aria-current={name === current ? 'page' : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  )
}

function SearchBox() {
  const text = useSignal('')
  const placeholder = t(isOperator.value ? 'search.placeholderAll' : 'search.placeholder')
  return (
    <form
      role="search"
      class={isOperator.value ? 'field find far push' : 'field find push'}
      onSubmit={(event) => {
        event.preventDefault()
        const q = text.value.trim()
        if (q === '') return
        text.value = ''
        navigate({ screen: 'search', accountId: accountId.value, query: { q } })
      }}
    >
      <Icon name="find" />
      <input
        id={SEARCH_ID}
        type="search"
        aria-label={t('search.label')}
        placeholder={placeholder}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        maxLength={255}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
        }}
      />
      <kbd>/</kbd>
    </form>
  )
}

function toggleTheme(): void {
  const isDark =
    theme.value === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : theme.value === 'dark'
  theme.value = isDark ? 'light' : 'dark'
}

/** `AL` of `Alma Lindqvist`. */
const initials = (name: string) =>
  name
    .split(/[\s._-]+/, 2)
    .map(([first = '']) => first.toUpperCase())
    .join('')

const UserMenuItems = lazy(
  async () => (await import('./user-menu.js')).UserMenuItems,
  () => null,
)

function UserMenu() {
  const name = userName.value
  return (
    <Popup
      class="avatar"
      align="end"
      label={name === undefined ? t('menu.title') : t('menu.ofUser', { name })}
      button={name === undefined ? <Icon name="user" /> : initials(name)}
    >
      {(close) => <UserMenuItems name={name} onDone={close} />}
    </Popup>
  )
}
