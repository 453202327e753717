"""The lexicon's entries: about fifty common topics, technology here. Our own lists; how they are read says ``lexicon``.

Each entry has the topic's phrase, what else people call it, words that settle it alone, and words that only hint at it.
"""

from __future__ import annotations

from news_digest.topics_world import WORLD

__all__ = ["ENTRIES", "LEXICON_VERSION"]

LEXICON_VERSION = 1
"""Goes up with every change of an entry: the same stories may then stand under other topics."""

TECHNOLOGY: tuple[tuple[str, str, str, str], ...] = (
    (
        "artificial intelligence",
        """
        ai, a.i., machine learning, ml, deep learning, generative ai, genai, gen ai, llm, llms, large language
        models
        """,
        """
        AI, A.I., GenAI, AGI, artificial intelligence, artificial general intelligence, superintelligence, machine
        learning, deep learning, neural net*, language model, LLM, VLM, generative, chatbot, OpenAI, ChatGPT, GPT-*,
        GPT, Anthropic, Claude, Gemini, Gemma, DeepMind, Mistral, Llama, DeepSeek, Qwen*, Kimi, MiniMax, GLM-*, xAI,
        Grok, Perplexity, Hugging Face, model weight, open weight, foundation model, frontier model, frontier lab,
        reasoning model, world model, diffusion model, text-to-image, text-to-speech, speech-to-text, reinforcement
        learning, RLHF, fine-tun*, finetun*, pretrain*, post-training, agentic, AI agent, coding agent, agent
        harness, prompt injection, prompt engineering, system prompt, context engineering, context window, RAG,
        retrieval-augmented, MCP, model context protocol, vibe cod*, vibecod*, copilot, Codex, Cursor, Midjourney,
        Stable Diffusion, Sora, Veo, Nano Banana, Manus, Cohere, ElevenLabs, Sam Altman, Dario Amodei, Karpathy,
        LeCun, Hassabis, mixture-of-experts, MoE, transformer model, attention mechanism, KV cache, speculative
        decoding, computer vision, embodied, LangChain, LangGraph, vLLM, Ollama, deepfake, self-attention, alignment
        research, AI safety, OpenClaw, Mythos, SWE-bench, humanity's last exam, evals
        """,
        """
        agent, model, training, inference, prompt, GPU, TPU, Nvidia, benchmark, reasoning, autonomous, token,
        embedding, copilots, assistant, robotaxi, humanoid, hallucinat*, data center, compute, vector search,
        parameters, open model, harness
        """,
    ),
    (
        "open source",
        "open-source, opensource, free software, foss, floss, oss, open source software, libre software",
        """
        open source, open sources, open sourced, open sourcing, opensource*, OSS, FOSS, free software, libre
        software, GPL, AGPL, LGPL, MIT license*, MIT-licensed, Apache 2.0, Apache license, BSD license, open weight,
        open model, openly available, freely available, Linux Foundation, Apache Software Foundation, CNCF, OpenSSF,
        Free Software Foundation, Open Source Initiative, Linux kernel, Debian, Fedora, Ubuntu, GNOME, KDE, FreeBSD,
        maintainer, upstream, license change, relicens*, self-hosted, self-hostable, community fork, OpenTofu,
        Valkey, Codeberg, Forgejo, source-available, this repository
        """,
        """
        GitHub, repository, repo, fork, contributor, license, Apache, kernel, Linux, community, Rust-based, written
        in Rust, library, PostgreSQL, Postgres, Kubernetes, Mozilla, Python Software Foundation, Hugging Face,
        self-hosting, published the code, source code
        """,
    ),
    (
        "developer tools",
        """
        devtools, dev tools, developer tooling, programming tools, tools for developers, software development tools
        """,
        """
        developer tool*, dev tool, devtools, developer experience, developer platform, IDE, SDK, CLI, command-line
        tool, command line tool, VS Code, VSCode, Visual Studio, Xcode, JetBrains, IntelliJ, Neovim, Vim, Emacs,
        compiler, debugger, linter, formatter, code editor, code review, code completion, coding agent, coding
        assistant, coding tool, coding model, agentic coding, GitHub Actions, GitHub Copilot, GitHub Issues, GitLab,
        git, Git, npm, PyPI, crates.io, package manager, Homebrew, Cursor, Claude Code, Codex, Windsurf, Replit,
        Devin, Copilot CLI, Gemini CLI, pull request, PR, monorepo, CI/CD, build system, build tool, bundler, Bun,
        Deno, Node.js, Next.js, Vercel, TypeScript, WebAssembly, Docker Compose, Docker Desktop, dev environment,
        development environment, type checker, static analysis, unit test, test framework, developer preview,
        programming language, parser, terminal, API client, web framework, Pulumi, Terraform provider, software
        engineer, vibe cod*
        """,
        """
        developer, coding, code, programm*, framework, library, libraries, API, Python, JavaScript, React, Rust,
        Golang, Java, testing, deploy*, Docker, Kubernetes, GitHub, repository, toolkit, plugin, extension,
        workflow, sandbox, refactor*, codebase, open source, shell, runtime, harness
        """,
    ),
    (
        "security",
        "cybersecurity, cyber security, infosec, information security, it security, hacking, vulnerabilities",
        """
        cybersecurity, cyberattack, cyber attack, vulnerabilit*, exploit, exploited, zero day, CVE-*, malware,
        ransomware, phishing, data breach, breach, botnet, backdoor, hacker, hacked, infostealer, spyware, threat
        actor, APT*, DDoS, RCE, remote code execution, privilege escalation, supply chain attack, credential theft,
        stolen credentials, patch tuesday, CISA, pentest*, penetration test*, red team*, SQL injection, XSS
        """,
        """
        security, attack, patch, patched, leak*, encryption, password, authentication, MFA, threat, stolen, flaw,
        secure, firewall
        """,
    ),
    (
        "privacy",
        "data protection, surveillance, digital privacy, online privacy",
        """
        privacy, GDPR, surveillance, data protection, personal data, tracking, end-to-end encrypt*, facial
        recognition, data broker, spyware, biometric, wiretap*, anonymity, deanonymi*, age verification
        """,
        "encrypted, consent, cookie, location data, watchdog, Signal, Tor, identity, collect*",
    ),
    (
        "programming",
        "coding, software development, software engineering, programming languages, programmers",
        """
        programming, programmer, programming language, software engineer*, software develop*, compiler, refactor*,
        codebase, code review, type system, Rust, Golang, Python, JavaScript, TypeScript, Kotlin, Haskell, Zig, C++,
        Java, Swift, Ruby, Elixir, garbage collect*, algorithm, unit test
        """,
        "code, coding, developer, library, framework, API, debugging, function, software, bug",
    ),
    (
        "web development",
        "webdev, frontend, front end, web design, front-end development",
        """
        web development, web developer, frontend, front end, CSS, HTML, JavaScript, TypeScript, React, Next.js, Vue,
        Svelte, Angular, Node.js, web framework, browser API, WebAssembly, web app, DOM, Tailwind, Vite, web
        component, static site
        """,
        "browser, web, page, Chrome, Firefox, Safari, HTTP, component, accessibility",
    ),
    (
        "cloud computing",
        "cloud, devops, aws, azure, kubernetes, infrastructure, platform engineering, sre",
        """
        AWS, Amazon Web Services, Azure, Google Cloud, GCP, Kubernetes, serverless, Lambda, EC2, S3, CloudFront,
        Terraform, Docker, container, DevOps, SRE, observability, OpenTelemetry, microservice, load balanc*,
        autoscal*, Cloudflare, GitOps, Argo CD, Helm, EKS, GKE, platform engineering
        """,
        "cloud, cluster, infrastructure, latency, deployment, outage, region, instance, monitoring",
    ),
    (
        "databases",
        "data engineering, data, big data, analytics, database, sql",
        """
        database, PostgreSQL, Postgres, MySQL, SQLite, MongoDB, Redis, DuckDB, ClickHouse, Snowflake, Databricks,
        BigQuery, Spark, Kafka, Flink, Iceberg, data warehouse, data lake*, data pipeline, data engineer*, dbt, ETL,
        SQL, Parquet, query engine, query optimi*, vector database
        """,
        "query, queries, index, schema, table, storage, analytics, dataset, replication, transaction",
    ),
    (
        "linux",
        "gnu/linux, linux kernel, unix",
        """
        Linux, GNU, Ubuntu, Debian, Fedora, Arch Linux, Red Hat, systemd, Wayland, KDE, GNOME, Linus Torvalds, eBPF,
        ext4, Btrfs, NixOS, FreeBSD, OpenBSD, Unix
        """,
        "kernel, distro, distribution, package manager, shell, bash, driver",
    ),
    (
        "semiconductors",
        "chips, hardware, computer hardware, processors, chip industry, gpus",
        """
        semiconductor, chipmaker, chip, TSMC, Nvidia, AMD, Intel, Qualcomm, Broadcom, Micron, ASML, GPU, CPU, TPU,
        foundry, wafer, lithograph*, nanometer, silicon, DRAM, HBM, RISC-V, ARM, processor
        """,
        "hardware, memory, accelerator, fab, server, export control, supply chain",
    ),
    (
        "quantum computing",
        "quantum, quantum computers",
        """
        quantum comput*, qubit, quantum processor, quantum algorithm, quantum advantage, quantum supremacy,
        post-quantum, quantum error correction
        """,
        "quantum, entangle*, superposition, IonQ, Rigetti, cryptography",
    ),
    (
        "robotics",
        "robots, automation, humanoid robots",
        """
        robot, robotic*, humanoid, Boston Dynamics, Optimus, Figure AI, Unitree, drone, cobot, exoskeleton,
        quadruped, manipulator
        """,
        "autonomous, automation, actuator, warehouse, embodied, factory",
    ),
    (
        "virtual reality",
        "vr, ar, augmented reality, mixed reality, xr, smart glasses",
        """
        virtual reality, augmented reality, mixed reality, VR, AR glasses, headset, Vision Pro, Meta Quest, smart
        glasses, metaverse, XR
        """,
        "glasses, immersive, wearable, display, avatar",
    ),
    (
        "smartphones",
        "mobile, phones, android, ios, gadgets, consumer electronics",
        """
        smartphone, iPhone, Android, iOS, Pixel, Galaxy S*, foldable, Samsung, Xiaomi, Huawei, OnePlus, iPad,
        tablet, smartwatch, Apple Watch, earbud, AirPods
        """,
        "phone, camera, battery, app store, display, wearable, carrier, gadget",
    ),
    (
        "apple",
        "apple inc, mac, macos",
        """
        Apple, iPhone, iPad, macOS, MacBook, iOS, iCloud, Siri, Tim Cook, App Store, AirPods, Vision Pro, Apple
        Watch, WWDC, Xcode
        """,
        "Cupertino, Safari, Swift",
    ),
    (
        "google",
        "alphabet, google news about the company",
        "Google, Alphabet, Android, Gemini, YouTube, Chrome, Pixel, DeepMind, Sundar Pichai, Google Cloud, Waymo",
        "Mountain View, search engine",
    ),
    (
        "microsoft",
        "windows, microsoft corporation",
        """
        Microsoft, Windows, Azure, Xbox, Satya Nadella, Office 365, Microsoft 365, Copilot, LinkedIn, Entra, Visual
        Studio
        """,
        "Redmond, Bing, Teams",
    ),
    (
        "social media",
        "social networks, creators, creator economy",
        """
        social media, social network, Facebook, Instagram, TikTok, Twitter, Bluesky, Mastodon, Threads, Reddit,
        Snapchat, YouTube, influencer, fediverse, content creator, Zuckerberg
        """,
        "Meta, feed, viral, post, moderation, followers, platform",
    ),
    (
        "internet",
        "networking, telecom, telecommunications, broadband",
        """
        internet, broadband, Starlink, 5G, fibre, fiber, ISP, DNS, IPv6, BGP, undersea cable, submarine cable, net
        neutrality, telecom*, spectrum auction, Wi-Fi
        """,
        "network, outage, router, web, bandwidth, satellite",
    ),
    (
        "video games",
        "gaming, games, esports, game development",
        """
        video game, gamer, gaming, Nintendo, PlayStation, Xbox, Steam, Valve, Epic Games, esports, Unity, Unreal
        Engine, game studio, console, indie game, Minecraft, Fortnite, Roblox
        """,
        "game, player, release, developer, studio, DLC",
    ),
    (
        "space",
        "astronomy, space exploration, nasa, spaceflight, rockets",
        """
        NASA, SpaceX, Starship, rocket, spacecraft, satellite, astronaut, orbit*, Blue Origin, ESA, moon, lunar,
        Mars, telescope, asteroid, galaxy, galaxies, black hole, exoplanet, space station, ISS, astronomer, launch
        pad
        """,
        "launch, mission, payload, cosmic, solar, planet, star",
    ),
)

ENTRIES = TECHNOLOGY + WORLD
"""Where two topics share a name, the one that comes first has it."""
