//! Programs that run something in a manner that nobody relies on here; what their words tell of it is listed all the same.

/// Their names. No such list is ever whole: what is on none of ours is taken for the program itself, and a rule has to name it.
const NAMES: &str = " \
    aarch64 abduco alacritty alias anacron apptainer arm64 at athlon aws-vault batch bind box64 bpftrace bwrap byobu \
    caffeinate capsh catchsegv ccache cgexec chamber chokidar choom chpst chronic chroot chrt clush compgen complete \
    concurrently coproc cpulimit crontab cross-env csh daemonize dbus-launch dbus-run-session direnv distcc dockerize \
    doppler dotenv dotenvx dsh dtach dumb-init eatmydata elvish enable enroot entr env-cmd envchain envdir es expect \
    fakechroot fakeroot faketime fc fcron firejail fish fixuid flock foot gamemoderun gdb gnome-terminal gosu gtk-launch \
    hash hyperfine i386 i486 i586 i686 icecc ifne infisical ip kitty konsole lckdo ld-linux-x86-64.so.2 ld-linux.so.2 \
    ld.so linux32 linux64 lldb logsave ltrace lxc-attach machinectl mangohud mapfile minijail0 mispipe nodemon npm-run-all \
    nq nsenter nsjail nu numactl onchange op optirun parallel pdsh pee perf pkexec ppc ppc32 ppc64 ppc64le primusrun \
    prlimit proot proxychains proxychains4 qemu-aarch64 qemu-x86_64 rc readarray reflex rlwrap run-p run-parts run-s run0 \
    runcon runuser rust-gdb rust-lldb rxvt s390 s390x s6-envdir s6-setuidgid s6-softlimit salt sandbox-exec sccache \
    schroot screen script scriptlive sem setarch setlock setpriv setuidgid sg singularity socat softlimit sops sparc \
    sparc32 sparc64 ssh-agent sshpass start-stop-daemon startx steam-run strace su-exec sudoedit systemd-nspawn systemd-run \
    taskset tcsh teller terminator tilix timelimit tini tmate tmux torsocks trickle ts tsocks uclampset udocker \
    uname26 unbuffer unshare urxvt uxterm valgrind wait-for-it wait-for-it.sh watchexec wezterm wine winpty with-contenv \
    x-terminal-emulator x86_64 xdg-open xfce4-terminal xinit xonsh xterm xvfb-run zargs zellij \
    ";

/// Says whether a program is one of them.
pub(super) fn is(name: &str) -> bool {
    !name.contains(' ') && NAMES.contains(&format!(" {name} "))
}
